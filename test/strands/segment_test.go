package strands

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// A list by a Reducer is that of the serial program, for random programs, on any number of workers.
func TestReducersGoInSerialOrder(t *testing.T) {
	onPools(t, []int{1, 2, 3, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range uint64(1000) {
			if thorough.Sampled() && seed == 200 {
				break
			}
			ids := 0
			script := randomScript(rand.New(rand.NewPCG(seed, 5)), &ids, 6)
			var want []string
			script.elision(func(e string) { want = append(want, e) })
			list := strand.NewAppend[string]()
			note := func(s *strand.Strand, e string) {
				if rand.IntN(10) == 0 {
					runtime.Gosched()
				}
				v := list.View(s)
				*v = append(*v, e)
			}
			strand.Run(p, func(s *strand.Strand) { script.run(s, note) }, opts...)
			if got := list.Value(); !slices.Equal(got, want) {
				t.Fatalf("seed %d:\n%v\nand not\n%v", seed, got, want)
			}
		}
	})
}

// With leaves that sleep every continuation is stolen, on as many workers as there may be.
func TestReducersWithManySteals(t *testing.T) {
	for _, workers := range []int{2, 8, 64} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			text := strand.NewText()
			var node func(s *strand.Strand, lo, hi int)
			node = func(s *strand.Strand, lo, hi int) {
				if hi-lo == 1 {
					time.Sleep(time.Duration(1+lo*7%5) * time.Second)
					fmt.Fprint(text.View(s), lo, ",")
					return
				}
				third := (hi - lo + 2) / 3
				for at := lo; at < hi; at += third {
					s.Spawn(func(s *strand.Strand) { node(s, at, min(at+third, hi)) })
				}
			}
			strand.Run(p, func(s *strand.Strand) { node(s, 0, 200) }, strand.Eager())
			var want strings.Builder
			for i := range 200 {
				fmt.Fprint(&want, i, ",")
			}
			if got := fmt.Sprint(text.Value()); got != want.String() {
				t.Errorf("%d workers: %s", workers, got)
			}
		})
	}
}

// Reducers go from a strand into loops, forks and runs inside of it, and out again.
func TestReducersThroughOtherWork(t *testing.T) {
	onPools(t, []int{1, 2, 3, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for range 20 {
			list := strand.NewAppend[int]()
			add := func(s filch.Scope, i int) {
				v := list.View(s)
				*v = append(*v, i)
			}
			p.Do(func(w *filch.Worker) {
				add(w, 0)
				strand.Run(w, func(s *strand.Strand) {
					add(s, 1)
					s.Spawn(func(s *strand.Strand) {
						par.ForScope(s, 100, func(s filch.Scope, i int) { add(s, 2+i) })
						s.Do(func(w *filch.Worker) {
							w.Join(func(w *filch.Worker) { add(w, 102) }, func(w *filch.Worker) { add(w, 103) })
						})
						strand.Run(s, func(s *strand.Strand) {
							s.Spawn(func(s *strand.Strand) { add(s, 104) })
							add(s, 105)
						}, opts...)
					})
					add(s, 106)
				}, opts...)
				add(w, 107)
			})
			for i, v := range list.Value() {
				if i != v {
					t.Fatalf("%d at %d: %v", v, i, list.Value())
				}
			}
			if len(list.Value()) != 108 {
				t.Fatalf("%d values", len(list.Value()))
			}
		}
	})
}

// A view is made only where something was stolen.
func TestViewsAreMadeForSteals(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	for way, opts := range ways {
		p := filch.New(filch.WithWorkers(1))
		made := 0
		sum := strand.NewReducer(func() int { made++; return 0 }, func(a, b int) int { return a + b })
		strand.Run(p, func(s *strand.Strand) {
			for range 1000 {
				s.Spawn(func(s *strand.Strand) { *sum.View(s)++ })
			}
		}, opts...)
		if made != 1 || sum.Value() != 1000 {
			t.Errorf("%s: %d views, %d", way, made, sum.Value())
		}
		p.Close()
	}
}

// A combination that panics is a panic of the Sync.
func TestCombinationThatPanics(t *testing.T) {
	racetest.Skip(t, "a child runs while its parent waits")
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for range 20 {
		bad := strand.NewReducer(func() int { return 0 }, func(a, b int) int { panic("no sum") })
		err := caught(func() {
			strand.Run(p, func(s *strand.Strand) {
				begun := make(chan bool)
				s.Spawn(func(s *strand.Strand) { *bad.View(s)++; <-begun })
				*bad.View(s)++ // on another worker
				close(begun)
			}, strand.Eager())
		})
		if err == nil || !strings.Contains(err.Error(), "no sum") {
			t.Fatalf("caught(…): %v", err)
		}
	}
}

// What has run of a program that fails is in a list, once each and in the serial order, whatever was stolen.
func TestReducersOfProgramsThatFail(t *testing.T) {
	seeds := uint64(80)
	if thorough.Sampled() || race.Enabled {
		seeds = 20
	}
	onPools(t, []int{1, 2, 3, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range seeds {
			ids := 0
			program := randomBelow(rand.New(rand.NewPCG(seed, 8)), &ids, 6, int(seed)%30, false)
			all := &noted{list: strand.NewAppend[int](), opts: opts, seen: make([]atomic.Int32, ids)}
			p.Do(func(w *filch.Worker) {
				_ = caught(func() { strand.Run(w, func(s *strand.Strand) { program.noteOn(s, all) }, opts...) })
			})
			got := all.list.Value()
			if !slices.IsSorted(got) {
				t.Fatalf("seed %d: %v", seed, got)
			}
			for _, id := range got {
				all.seen[id].Add(-1)
			}
			for id := range all.seen {
				if n := all.seen[id].Load(); n != 0 {
					t.Fatalf("seed %d: %d has run, and is in the list %d times less", seed, id, n)
				}
			}
		}
	})
}

// noted is what the functions of one run share: seen is how often each has run.
type noted struct {
	list *strand.Reducer[[]int]
	seen []atomic.Int32
	opts []strand.Option
}

// noteOn is run, with the functions that run in a Reducer. Names end in the numbers of functions in serial order.
func (p *faulty) noteOn(s *strand.Strand, all *noted) {
	id, _ := strconv.Atoi(strings.TrimPrefix(p.name, "end "))
	all.seen[id].Add(1)
	v := all.list.View(s)
	*v = append(*v, id)
	for _, st := range p.steps {
		child := func(s *strand.Strand) { st.child.noteOn(s, all) }
		switch st.deed {
		case spawns, spawnsValue:
			s.Spawn(child)
		case nests:
			strand.Run(s, child, all.opts...)
		case recovers:
			_ = caught(func() { s.Spawn(child); s.Sync() })
		default:
			p.step(st, s, &faults{opts: all.opts})
		}
	}
}
