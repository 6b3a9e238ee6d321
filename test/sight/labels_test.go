package sight

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// labelsAt returns the labels of all goroutines that are in the function of this package with
// the given name, as the profile writes them, "" for none.
func labelsAt(function string) []string { return labelsIn("sight." + function) }

// labelsIn is labelsAt for a function of any package.
func labelsIn(function string) []string {
	found := map[string]bool{}
	for stack := range strings.SplitSeq(labels(), "\n\n") {
		if !strings.Contains(stack, function+"+") {
			continue
		}
		_, rest, _ := strings.Cut(stack, "# labels: ")
		line, _, _ := strings.Cut(rest, "\n")
		found[line] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// A meeting is two leaves that wait until both are there, so that they are on two goroutines,
// look at the labels of both, and part.
type meeting struct{ come, seen atomic.Int32 }

// attend returns the labels at function, which the caller is in.
func (m *meeting) attend(w *filch.Worker, function string) []string {
	m.come.Add(1)
	for m.come.Load() < 2 {
		w.Poll()
		runtime.Gosched()
	}
	at := labelsAt(function)
	m.seen.Add(1)
	for m.seen.Load() < 2 {
		runtime.Gosched()
	}
	return at
}

// Leaves of three kinds of work, to tell them apart on a stack.

//go:noinline
func appleLeaf(m *meeting, w *filch.Worker) []string { return m.attend(w, "appleLeaf") }

//go:noinline
func pearLeaf(m *meeting, w *filch.Worker) []string { return m.attend(w, "pearLeaf") }

//go:noinline
func plainLeaf(m *meeting, w *filch.Worker) []string { return m.attend(w, "plainLeaf") }

// fork runs the leaf on w and another worker, and wants to see the labels.
func fork(t *testing.T, w *filch.Worker, leaf func(m *meeting, w *filch.Worker) []string, want ...string) {
	var m meeting
	f := func(w *filch.Worker) {
		if got := leaf(&m, w); !slices.Equal(got, want) {
			t.Errorf("labels %q, want %q", got, want)
		}
	}
	w.Join(f, f)
}

// twice calls f with two pools of four workers: those of one are kept when they have no work.
// Then none of them must have labels.
func twice(t *testing.T, f func(t *testing.T, p *filch.Pool), more ...filch.Option) {
	opts := append(more, filch.WithWorkers(4), filch.WithName("kitchen"))
	t.Run("leave", func(t *testing.T) {
		p := filch.New(opts...)
		defer p.Close()
		f(t, p)
	})
	t.Run("stay", func(t *testing.T) {
		p := filch.New(append(opts, filch.WithIdleTimeout(time.Minute))...)
		defer p.Close()
		f(t, p)
		for p.Stats().Active > 0 {
			runtime.Gosched()
		}
		if got := labelsIn("engine.(*Worker).run"); !slices.Equal(got, []string{""}) {
			t.Errorf("labels %q of workers without work", got)
		}
	})
}

// request calls f in the work of a labelled request, as package pprof advises.
func request(name string, f func(ctx context.Context)) {
	pprof.Do(context.Background(), pprof.Labels("request", name), f)
}

func TestForksHaveTheLabelsOfTheirRequest(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		for range rig.Fewer(20) {
			var wg sync.WaitGroup
			for name, leaf := range map[string]func(m *meeting, w *filch.Worker) []string{"apple": appleLeaf, "pear": pearLeaf} {
				wg.Go(func() {
					request(name, func(ctx context.Context) {
						err := p.DoContext(ctx, func(w *filch.Worker) { fork(t, w, leaf, fmt.Sprintf("{%q:%q}", "request", name)) })
						if err != nil {
							t.Error("p.DoContext(ctx, …):", err)
						}
					})
				})
			}
			wg.Wait()
			p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
		}
	})
}

func TestForksHaveTheLabelsOfTheirTask(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		for range rig.Fewer(20) {
			var tasks []*filch.Future[int]
			for name, leaf := range map[string]func(m *meeting, w *filch.Worker) []string{"apple": appleLeaf, "pear": pearLeaf} {
				request(name, func(ctx context.Context) {
					tasks = append(tasks, filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
						want := fmt.Sprintf(`{"filch_pool":"kitchen", "filch_task":"peel", "request":%q}`, name)
						s := filch.ScopeOf(ctx)
						s.Do(func(w *filch.Worker) { fork(t, w, leaf, want) })
						// What runs in place has labels of its own; those of the task come back.
						filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("core")).Wait(ctx)
						s.Do(func(w *filch.Worker) { fork(t, w, leaf, want) })
						pprof.Do(ctx, pprof.Labels("step", "2"), func(ctx context.Context) {
							filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
								w.Join(
									func(w *filch.Worker) { fork(t, w, leaf, labelsOfStep(name)...) },
									func(*filch.Worker) {})
							})
						})
						return 0, nil
					}, filch.Named("peel")))
				})
			}
			for _, f := range tasks {
				if _, err := f.Wait(context.Background()); err != nil {
					t.Error("f.Wait(background):", err)
				}
			}
			p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
		}
	}, filch.WithLabels())
}

// labelsOfStep are those within pprof.Do in a task: package pprof sets those of the context, which
// does not have the task's, on the goroutine that calls it; filch gives both to the other one.
func labelsOfStep(name string) []string {
	return []string{
		fmt.Sprintf(`{"filch_pool":"kitchen", "filch_task":"peel", "request":%q, "step":"2"}`, name),
		fmt.Sprintf(`{"request":%q, "step":"2"}`, name),
	}
}

// Without WithLabels, forks of a task have the labels that it was submitted with, and nothing is
// left of them.
func TestForksHaveTheLabelsOfTheContextOfScopeOf(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		for range rig.Fewer(20) {
			request("apple", func(ctx context.Context) {
				g := p.Group(ctx)
				g.Go(func(ctx context.Context) error {
					pprof.Do(ctx, pprof.Labels("step", "1"), func(ctx context.Context) {
						filch.ScopeOf(ctx).Do(func(w *filch.Worker) { fork(t, w, appleLeaf, `{"request":"apple", "step":"1"}`) })
						done := make(chan bool)
						go func() { // a guest, for the task has the worker
							filch.ScopeOf(ctx).Do(func(w *filch.Worker) { fork(t, w, pearLeaf, `{"request":"apple", "step":"1"}`) })
							close(done)
						}()
						<-done
					})
					return nil
				})
				if err := g.Wait(); err != nil {
					t.Error("g.Wait():", err)
				}
			})
			p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
		}
	})
}

// A plain Do has no labels to give: its helpers have none, though their goroutines are started
// by one that has.
func TestHelpersOfAPlainDoHaveNoLabels(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		for range rig.Fewer(20) {
			request("apple", func(context.Context) {
				p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "", `{"request":"apple"}`) })
			})
		}
		p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
	})
}

// Labels end with a fork that does not return, too.
func TestLabelsEndWithAPanic(t *testing.T) {
	p := filch.New(filch.WithWorkers(4), filch.WithIdleTimeout(time.Minute))
	defer p.Close()
	for range rig.Fewer(20) {
		request("apple", func(ctx context.Context) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var m meeting
			f := func(w *filch.Worker) {
				appleLeaf(&m, w)
				panic("boom")
			}
			p.DoContext(ctx, func(w *filch.Worker) { w.Join(f, f) })
		})
		p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
	}
}

// Forks of stolen forks, and what is helped with at a join, have the labels too.
func TestAllForksOfARequestHaveItsLabels(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		var wg sync.WaitGroup
		for name, leaf := range map[string]func(n int) []string{"apple": appleTree, "pear": pearTree} {
			want := []string{fmt.Sprintf("{%q:%q}", "request", name)}
			tree := filch.NewFunc(func(f *filch.Frame[int, struct{}], n int) (none struct{}) {
				if n == 0 {
					if got := leaf(10); !slices.Equal(got, want) {
						t.Errorf("labels %q, want %q", got, want)
					}
					return none
				}
				h := f.Fork(n - 1)
				f.Call(n - 1)
				return f.Join(h)
			})
			wg.Go(func() {
				request(name, func(ctx context.Context) {
					p.DoContext(ctx, func(w *filch.Worker) { tree.Call(w, 6) })
				})
			})
		}
		wg.Wait()
		p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "") })
	})
}

//go:noinline
func appleTree(turns int) []string {
	for range turns {
		runtime.Gosched()
	}
	return labelsAt("appleTree")
}

//go:noinline
func pearTree(turns int) []string {
	for range turns {
		runtime.Gosched()
	}
	return labelsAt("pearTree")
}

// f runs with the labels of the context, though the goroutine has none, and keeps them, as it
// does after pprof.Do with that context.
func TestDoContextSetsTheLabelsOfItsContext(t *testing.T) {
	twice(t, func(t *testing.T, p *filch.Pool) {
		ctx := pprof.WithLabels(context.Background(), pprof.Labels("request", "apple"))
		var wg sync.WaitGroup
		wg.Go(func() {
			p.DoContext(ctx, func(w *filch.Worker) { fork(t, w, appleLeaf, `{"request":"apple"}`) })
			p.Do(func(w *filch.Worker) { fork(t, w, plainLeaf, "", `{"request":"apple"}`) })
		})
		wg.Wait()
	})
}

// A context without labels takes none from the caller, and one that is no comparable value does
// no harm.
func TestAContextWithoutLabelsChangesNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	request("apple", func(context.Context) {
		for range rig.Fewer(20) {
			err := p.DoContext(incomparable{Context: context.Background()}, func(w *filch.Worker) { fork(t, w, plainLeaf, "", `{"request":"apple"}`) })
			if err != nil {
				t.Error("p.DoContext(…):", err)
			}
		}
	})
	request("pear", func(ctx context.Context) {
		p.DoContext(incomparable{Context: ctx}, func(w *filch.Worker) { fork(t, w, pearLeaf, `{"request":"pear"}`) })
	})
}

// incomparable is a context whose values cannot be compared.
type incomparable struct {
	context.Context
	_ []int
}
