package sched

import (
	"runtime"
)

// integer is an atomic variable.
type integer[T ~int32 | ~int64 | ~uint32 | ~uint64] struct {
	object
	v T
}

func (x *integer[T]) Load() T            { x.load("Load"); return x.v }
func (x *integer[T]) Store(v T)          { x.store("Store"); x.v = v }
func (x *integer[T]) Add(d T) T          { x.update("Add"); x.v += d; return x.v }
func (x *integer[T]) Swap(v T) (old T)   { x.update("Swap"); old, x.v = x.v, v; return old }
func (x *integer[T]) Or(mask T) (old T)  { x.update("Or"); old = x.v; x.v |= mask; return old }
func (x *integer[T]) And(mask T) (old T) { x.update("And"); old = x.v; x.v &= mask; return old }
func (x *integer[T]) CompareAndSwap(old, v T) bool {
	swapped := x.compare("CompareAndSwap", func() bool { return x.v == old })
	if swapped {
		x.v = v
	}
	return swapped
}

// The types of sync/atomic.
type (
	Int32  struct{ integer[int32] }
	Int64  struct{ integer[int64] }
	Uint32 struct{ integer[uint32] }
	Uint64 struct{ integer[uint64] }
)

// Bool is that of sync/atomic.
type Bool struct {
	object
	v bool
}

func (x *Bool) Load() bool             { x.load("Load"); return x.v }
func (x *Bool) Store(v bool)           { x.store("Store"); x.v = v }
func (x *Bool) Swap(v bool) (old bool) { x.update("Swap"); old, x.v = x.v, v; return old }
func (x *Bool) CompareAndSwap(old, v bool) bool {
	swapped := x.compare("CompareAndSwap", func() bool { return x.v == old })
	if swapped {
		x.v = v
	}
	return swapped
}

// Pointer is that of sync/atomic.
type Pointer[T any] struct {
	object
	v *T
}

func (x *Pointer[T]) Load() *T           { x.load("Load"); return x.v }
func (x *Pointer[T]) Store(v *T)         { x.store("Store"); x.v = v }
func (x *Pointer[T]) Swap(v *T) (old *T) { x.update("Swap"); old, x.v = x.v, v; return old }
func (x *Pointer[T]) CompareAndSwap(old, v *T) bool {
	swapped := x.compare("CompareAndSwap", func() bool { return x.v == old })
	if swapped {
		x.v = v
	}
	return swapped
}

// Mutex is that of sync.
type Mutex struct {
	object
	locked bool
}

func (m *Mutex) Lock() {
	if t := point(op{name: "Lock", obj: &m.object, write: true, enabled: func() bool { return !m.locked }}); t != nil {
		t.clock.join(&m.clock)
	}
	m.locked = true
}

func (m *Mutex) TryLock() bool {
	t := point(op{name: "TryLock", obj: &m.object, write: true})
	if m.locked {
		t.wroteNothing()
		return false
	}
	if t != nil {
		t.clock.join(&m.clock)
	}
	m.locked = true
	return true
}

func (m *Mutex) Unlock() {
	if t := point(op{name: "Unlock", obj: &m.object, write: true}); t != nil {
		t.release(&m.object)
	}
	m.locked = false
}

// Gosched lets others go first, until one has written something.
func Gosched() { point(op{name: "Gosched", yields: true}) }

// Meet is Gosched in programs that want it: where threads meet, others may go first without a preemption.
func Meet() {
	if run.Meets {
		Gosched()
	}
}

// Clock returns what Advance has added up, for a clock that stands still otherwise.
func Clock() int64 {
	if run == nil {
		return 0
	}
	return run.clock
}

// Advance lets so many nanoseconds go by. It is no step: only what one thread looks at should depend on it.
func Advance(d int64) { run.clock += d }

// Seen counts what other threads have written.
func Seen() int { return run.writes - run.current.wrote }

// Await waits until other threads have written more than what was seen.
func Await(seen int) {
	r, t := run, run.current
	point(op{name: "await", enabled: func() bool { return r.writes-t.wrote != seen }})
}

// Pool is that of sync, and forgets all that is put into it.
type Pool struct{ New func() any }

func (p *Pool) Get() any {
	if p.New == nil {
		return nil
	}
	return p.New()
}

func (p *Pool) Put(any) {}

// The functions of sync/atomic.

func LoadUint32(p *uint32) uint32 {
	if run != nil {
		run.object(p).load("Load")
	}
	return *p
}

func StoreUint32(p *uint32, v uint32) {
	if run != nil {
		run.object(p).store("Store")
	}
	*p = v
}

func CompareAndSwapUint32(p *uint32, old, v uint32) bool {
	swapped := *p == old
	if run != nil {
		swapped = run.object(p).compare("CompareAndSwap", func() bool { return *p == old })
	}
	if swapped {
		*p = v
	}
	return swapped
}

// Close closes a channel.
func Close[T any](ch chan T) {
	o := run.object((<-chan T)(ch))
	o.store("close")
	o.closed = true
	close(ch)
}

// Next receives from a channel that has room, and is closed in the end.
func Next[T any](ch <-chan T) (v T, ok bool) {
	o := run.object(ch)
	t := point(op{name: "receive", obj: o, write: true, enabled: func() bool { return o.closed || len(ch) > 0 }})
	if t != nil {
		t.clock.join(&o.clock)
	}
	v, ok = <-ch
	return v, ok
}

// Receive waits until a channel that nobody sends to is closed.
func Receive[T any](ch <-chan T) {
	o := run.object(ch)
	t := point(op{name: "receive", obj: o, enabled: func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}})
	if t != nil {
		t.clock.join(&o.clock)
	}
}

// Send sends to a channel that has room.
func Send[T any](ch chan T, v T) {
	run.object((<-chan T)(ch)).store("send")
	if len(ch) == cap(ch) {
		panic("a send to a channel that is full")
	}
	ch <- v
}

// What else the code under test needs of package runtime.

type Frame = runtime.Frame

var (
	Caller        = runtime.Caller
	Callers       = runtime.Callers
	CallersFrames = runtime.CallersFrames
	FuncForPC     = runtime.FuncForPC
	Goexit        = runtime.Goexit
)

func GOMAXPROCS(int) int { return 2 }

// NumGoroutine is for Dump, which no program under test calls.
func NumGoroutine() int { return 1 }

func KeepAlive(any) {}

func AddCleanup[T, S any](*T, func(S), S) {}
