package loops

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// A loop is measured as the tree of its pieces: single elements that take long, or chunks of the caller's.
func TestLoopsAreMeasuredByTheirPieces(t *testing.T) {
	const ms = time.Millisecond
	const burden = 4 * time.Microsecond
	i := func(i int) { time.Sleep(time.Duration(i+1) * ms) }
	one := func(int) { time.Sleep(ms) }
	spans := func(lo, hi int) { time.Sleep(time.Duration(hi-lo) * ms) }
	add := func(a, b int) int { return a + b }
	slow := func(a, b int) int { time.Sleep(ms); return a + b }
	x := make([]int, 64)
	for _, c := range []struct {
		name       string
		f          func(w *filch.Worker)
		work, span time.Duration // in ms
		burdens    time.Duration
		forks      int64
	}{
		{"For", func(w *filch.Worker) { par.For(w, 64, one) }, 64, 1, 6, 63},
		{"For of unequal elements", func(w *filch.Worker) { par.For(w, 65, i) }, 2145, 65, 7, 64},
		{"For of none", func(w *filch.Worker) { par.For(w, 0, one) }, 0, 0, 0, 0},
		{"For of one", func(w *filch.Worker) { par.For(w, 1, one) }, 1, 1, 0, 0},
		{"For in chunks", func(w *filch.Worker) { par.For(w, 100, one, par.WithGrain(10)) }, 100, 10, 4, 9},
		{"For in uneven chunks", func(w *filch.Worker) { par.For(w, 101, one, par.WithGrain(10)) }, 101, 10, 4, 10},
		{"For on two workers at most", func(w *filch.Worker) { par.For(w, 64, one, par.WithMaxWorkers(2)) }, 64, 32, 0, 63},
		{"For of aligned elements", func(w *filch.Worker) { par.For(w, 64, one, par.WithAlign(8)) }, 64, 8, 3, 7},
		{"For of few that are known", func(w *filch.Worker) { par.For(w, 5, one) }, 5, 1, 3, 4},
		{"ForRange", func(w *filch.Worker) { par.ForRange(w, 32, spans) }, 32, 1, 5, 31},
		{"ForScope in ForScope", func(w *filch.Worker) {
			par.ForScope(w, 8, func(s filch.Scope, i int) {
				par.ForScope(s, 4, func(s filch.Scope, i int) { time.Sleep(ms) })
			})
		}, 32, 1, 5, 31},
		{"ForInit", func(w *filch.Worker) {
			par.ForInit(w, 16, func() *int { return new(int) }, func(n *int, i int) { *n++; time.Sleep(ms) })
		}, 16, 1, 4, 15},
		{"ForTiles", func(w *filch.Worker) {
			par.ForTiles(w, 128, 256, func(x0, y0, x1, y1 int) { time.Sleep(ms) })
		}, 8, 1, 3, 7},
		{"ForErr", func(w *filch.Worker) { _ = par.ForErr(w, 16, func(int) error { time.Sleep(ms); return nil }) }, 16, 1, 4, 15},
		{"ForErr that fails", func(w *filch.Worker) {
			_ = par.ForErr(w, 16, func(i int) error {
				time.Sleep(ms)
				if i == 4 {
					return fmt.Errorf("%d", i)
				}
				return nil
			})
		}, 5, 1, 3, 4},
		{"Map", func(w *filch.Worker) { par.Map(w, x, func(v int) int { time.Sleep(ms); return v }) }, 64, 1, 6, 63},
		{"IndexFunc", func(w *filch.Worker) {
			par.IndexFunc(w, make([]int, 16), func(v int) bool { time.Sleep(ms); return false })
		}, 16, 1, 4, 15},
		{"Reduce", func(w *filch.Worker) { par.Reduce(w, x, 0, slow) }, 63, 6, 0, 0},
		{"MapReduce", func(w *filch.Worker) {
			par.MapReduce(w, x, 0, func(v int) int { time.Sleep(ms); return v }, add)
		}, 64, 1, 0, 0},
		{"a loop in a join", func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) { par.For(w, 8, one) }, func(w *filch.Worker) { par.For(w, 4, one) })
		}, 12, 1, 3, 7 + 3 + 1},
	} {
		want := filch.Profile{Work: c.work * ms, Span: c.span * ms, BurdenedSpan: c.span*ms + c.burdens*burden, Forks: c.forks}
		for range 2 { // what is remembered of the cost makes no difference
			synctest.Test(t, func(t *testing.T) {
				got := *filch.Measure(c.f)
				if c.name == "Reduce" || c.name == "MapReduce" { // their parts of next to nothing, too, are pieces at first
					got.Forks, got.BurdenedSpan = want.Forks, want.BurdenedSpan
				}
				if got != want {
					t.Errorf("%s: %+v, want %+v", c.name, got, want)
				}
			})
		}
	}
}

// Measured loops do what they do otherwise.
func TestMeasuredLoopsGiveTheSame(t *testing.T) {
	x := make([]int, 100_000)
	for i := range x {
		x[i] = i * 7919 % 100_003
	}
	of := func(s filch.Scope) (all []string) {
		say := func(v any) { all = append(all, fmt.Sprint(v)) }
		y := append([]int(nil), x...)
		say(par.Sum(s, x))
		say(par.Reduce(s, x, 0, func(a, b int) int { return a*3 + b }, par.WithGrain(100)))
		say(len(par.Filter(s, x, func(v int) bool { return v%3 == 0 })))
		say(par.IndexFunc(s, x, func(v int) bool { return v == 77 }))
		par.Scan(s, y, x, func(a, b int) int { return a + b })
		say(y[len(y)-1])
		say(par.Map(s, x, func(v int) int { return -v })[77])
		say(par.Indices(s, len(x), func(i int) bool { return x[i] < 3 }))
		say(*par.ReduceInto(s, len(x), func() *int { return new(int) }, func(n *int, i int) { *n += x[i] }, func(a, b *int) { *a += *b }))
		copy(y, x)
		par.Sort(s, y)
		say(par.IsSorted(s, y))
		copy(y, x)
		par.SortFunc(s, y, func(a, b int) int { return b - a })
		say(y[:3])
		say(par.FlatMap(s, x, func(v int, out []int) []int {
			if v < 5 {
				out = append(out, v, v)
			}
			return out
		}))
		return all
	}
	want := of(filch.New(filch.WithWorkers(1)))
	p := filch.Measure(func(w *filch.Worker) {
		if got := of(w); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("measured: %v, want %v", got, want)
		}
	})
	if p.Forks == 0 {
		t.Errorf("filch.Measure(…): %v", p)
	}
}

// A panic in a measured loop arrives as elsewhere, and what is around it goes on.
func TestPanicsInMeasuredLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.Measure(func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) {
				func() {
					defer func() {
						if err, ok := recover().(*filch.PanicError); !ok || err.Value != "boom" {
							t.Errorf("recovered %v", err)
						}
					}()
					par.For(w, 10, func(i int) {
						time.Sleep(time.Millisecond)
						if i == 2 {
							panic("boom")
						}
					})
				}()
			}, func(*filch.Worker) { time.Sleep(5 * time.Millisecond) })
		})
		if p.Work != 8*time.Millisecond || p.Span != 5*time.Millisecond {
			t.Errorf("filch.Measure(…): %+v", p)
		}
	})
}
