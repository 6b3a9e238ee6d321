package loops

import (
	"cmp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par"
)

// passages are ways for a panic of body to the caller. Each leads through several calls that wrap
// what is not wrapped yet.
var passages = map[string]func(p *filch.Pool, body func()){
	"one element in one": func(p *filch.Pool, body func()) { par.For(p, 1, func(int) { par.For(p, 1, func(int) { body() }) }) },
	"a loop in one":      func(p *filch.Pool, body func()) { par.For(p, 1, func(int) { par.For(p, 1000, at(500, body)) }) },
	"one in a loop": func(p *filch.Pool, body func()) {
		par.For(p, 1000, at(500, func() { par.For(p, 1, func(int) { body() }) }))
	},
	"a loop in a loop": func(p *filch.Pool, body func()) {
		par.For(p, 1000, at(500, func() { par.For(p, 1000, at(500, body)) }))
	},
	"Do in one element":   func(p *filch.Pool, body func()) { par.For(p, 1, func(int) { p.Do(func(*filch.Worker) { body() }) }) },
	"one element in Do":   func(p *filch.Pool, body func()) { p.Do(func(w *filch.Worker) { par.For(w, 1, func(int) { body() }) }) },
	"a sort in a stage":   func(p *filch.Pool, body func()) { staged(p, func() { sorts(p, body) }) },
	"a stage in a sort":   func(p *filch.Pool, body func()) { sorts(p, func() { staged(p, body) }) },
	"a sum in each chunk": func(p *filch.Pool, body func()) { par.For(p, 2, func(int) { reduces(p, body) }, par.WithGrain(1)) },
}

func at(i int, body func()) func(int) {
	return func(k int) {
		if k == i {
			body()
		}
	}
}

func sorts(s filch.Scope, body func()) {
	par.SortFunc(s, []int{2, 1}, func(a, b int) int { body(); return cmp.Compare(a, b) })
}

func reduces(s filch.Scope, body func()) {
	par.Reduce(s, []int{2, 1}, 0, func(a, b int) int { body(); return a + b })
}

func staged(p *filch.Pool, body func()) {
	one := par.From(func(yield func(int) bool) { yield(1) })
	par.Stage(one, 0, func(v int) (int, error) { body(); return v, nil }).Run(p, func(int) error { return nil })
}

func TestNestedPanicsAreWrappedOnceAndKeepTheFirstStack(t *testing.T) {
	for name, pass := range passages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(2))
				defer p.Close()
				err, ok := rig.Catch(func() { pass(p, rig.Bad) }).(*filch.PanicError)
				if !ok || err.Value != "bad" {
					t.Fatalf("%v", err)
				}
				if !strings.Contains(string(err.Stack), "rig.Bad(") {
					t.Errorf("the stack does not have the function that panicked:\n%s", err.Stack)
				}
				// A panic with what is wrapped already passes as it is.
				if again := rig.Catch(func() { pass(p, func() { panic(err) }) }); again != err {
					t.Errorf("wrapped again: %v", again)
				}
				for range 3 { // and the pool is as it was
					pass(p, func() {})
				}
			})
		})
	}
}

// A call that was begun ends with the panic of its function even if the pool was closed meanwhile.
func TestPanicWhileThePoolIsClosed(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	err, ok := rig.Catch(func() { par.For(p, 1, func(int) { p.Close(); rig.Bad() }) }).(*filch.PanicError)
	if !ok || err.Value != "bad" || !strings.Contains(string(err.Stack), "rig.Bad(") {
		t.Errorf("%v", err)
	}
}
