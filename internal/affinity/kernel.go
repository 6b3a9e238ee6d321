package affinity

import "sync"

// Kernel is what places threads on processors. Tests have others than System.
type Kernel interface {
	// Thread returns the number of the caller's thread.
	Thread() int
	// Mask returns the processors that a thread may run on; 0 is the caller's.
	Mask(number int) (Mask, error)
	// SetMask says which those are.
	SetMask(number int, m Mask) error
}

// System is the kernel that the program runs on.
var System Kernel = system{}

// narrowed has the masks from before of threads that are pinned now, by thread.
var narrowed sync.Map

// thread names a thread of a kernel.
type thread struct {
	kernel Kernel
	number int
}

// Allowed returns the processors that the program may use. A thread that is pinned does not hide the rest.
func Allowed(k Kernel) ([]int, error) {
	if m, ok := narrowed.Load(thread{k, k.Thread()}); ok {
		return m.(Mask).Processors(), nil
	}
	m, err := k.Mask(0)
	return m.Processors(), err
}
