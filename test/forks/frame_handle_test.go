package forks

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// A fork that was joined is not answered for by the one that has its place: checks and the race detector say
// so, whether forks are private or public. All else goes on as if nothing had been.
func TestStaleForkHandle(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p, _ := rig.Checked(workers)
		if race.Enabled {
			p = filch.New(filch.WithWorkers(workers))
		}
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				return n
			}
			first := f.Fork(3)
			stale := f.Fork(1)
			f.Join(stale)
			h := f.Fork(2)
			for range 2 {
				func() {
					defer func() {
						if s, _ := recover().(string); !strings.HasPrefix(s, "filch: Join of fork 2, which was joined: the newest open fork has its place") {
							t.Errorf("%d workers: Join of a fork that was joined: panic: %q", workers, s)
						}
					}()
					t.Errorf("%d workers: Join of a fork that was joined returned %d", workers, f.Join(stale))
				}()
			}
			if r := f.Join(h); r != 2 {
				t.Errorf("%d workers: Join of the fork in its place returned %d, not 2", workers, r)
			}
			return f.Join(first)
		})
		if r := fn.Call(p, 0); r != 3 {
			t.Errorf("%d workers: Call returned %d, not 3", workers, r)
		}
		p.Close()
	}
}

// Forks cost no allocation, however many are open.
func TestForksDoNotAllocateAtAnyDepth(t *testing.T) {
	if race.Enabled {
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
