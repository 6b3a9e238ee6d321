package filch_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

// A fork that was joined is not answered for by the one that has its place: the race
// detector says so.
func TestStaleForkHandle(t *testing.T) {
	if !raceEnabled {
		t.Skip("checked under the race detector")
	}
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n > 0 {
			return n
		}
		stale := f.Fork(1)
		f.Join(stale)
		h := f.Fork(2)
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "which was joined") {
					t.Errorf("panic: %q", s)
				}
			}()
			t.Errorf("the answer is %d", f.Join(stale))
		}()
		return f.Join(h)
	})
	if r := fn.Call(filch.New(filch.WithWorkers(1)), 0); r != 2 {
		t.Errorf("%d, not 2", r)
	}
}

// Forks cost no allocation, however many are open.
func TestForksDoNotAllocateAtAnyDepth(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := filch.New(filch.WithWorkers(1))
	open := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 1
		}
		handles := make([]filch.Fork, 0, 5000)
		for range cap(handles) {
			handles = append(handles, f.Fork(0))
		}
		sum := 0
		for i := len(handles) - 1; i >= 0; i-- {
			sum += f.Join(handles[i])
		}
		return sum
	})
	var deep *filch.Chain[int, int]
	var body func(l *filch.Link[int, int], n int) int
	body = func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 1
		}
		l.Fork(0)
		r := body(l.Next(), n-1)
		if l.TakeBack() {
			return body(l, 0) + r
		}
		return l.Join() + r
	}
	deep = filch.NewChain(body)
	for name, call := range map[string]func(){
		"Func":  func() { open.Call(p, 1) },
		"Chain": func() { deep.Call(p, 5000) },
	} {
		if n := testing.AllocsPerRun(20, call); n > 1 { // of Call, for its closure
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}
