package trace_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace"
)

// diary has when each part of a program began and ended, in virtual time.
type diary struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
}

func (d *diary) do(part string, takes time.Duration) {
	began := time.Since(d.begin)
	time.Sleep(takes)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf("%12v %12v %s", began, time.Since(d.begin), part))
}

// schedules are programs whose parts take times of their own, so that no two end at once.
var schedules = map[string]func(p *filch.Pool, d *diary, rnd *rand.Rand){
	"forks in a loop": func(p *filch.Pool, d *diary, rnd *rand.Rand) {
		takes := times(rnd, 100)
		leaves := filch.NewFunc(func(f *filch.Frame[int, int], arg int) int {
			if arg >= 0 {
				d.do(fmt.Sprint("leaf ", arg), takes[arg])
				return 1
			}
			mark := f.Mark()
			for i := range takes {
				f.Fork(i)
			}
			n := 0
			mark.JoinAll(func(_, x int) bool { n += x; return true })
			return n
		})
		leaves.Call(p, -1)
	},
	"tasks from outside": func(p *filch.Pool, d *diary, rnd *rand.Rand) {
		g := p.Group(background)
		for i, takes := range times(rnd, 100) {
			time.Sleep(takes / 64)
			g.Go(func(context.Context) error { d.do(fmt.Sprint("task ", i), takes); return nil })
		}
		g.Wait()
	},
	"tasks that block": func(p *filch.Pool, d *diary, rnd *rand.Rand) {
		g := p.Group(background)
		for i, takes := range times(rnd, 60) {
			time.Sleep(takes / 16)
			g.Go(func(ctx context.Context) error {
				d.do(fmt.Sprint("before ", i), takes/3)
				filch.Blocking(ctx, func() { d.do(fmt.Sprint("call ", i), takes/5) })
				d.do(fmt.Sprint("after ", i), takes/7)
				return nil
			})
		}
		g.Wait()
	},
}

// times returns n times, which hardly have the same sums.
func times(rnd *rand.Rand, n int) []time.Duration {
	if thorough.Sampled() {
		n /= 4
	}
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = 10*time.Millisecond + time.Duration(rnd.Int64N(int64(10*time.Millisecond)))
	}
	return all
}

// Recording changes nothing: each part of a program begins and ends when it does without.
func TestRecordingChangesNoSchedule(t *testing.T) {
	seeds := uint64(3)
	if thorough.Sampled() {
		seeds = 1
	}
	for name, program := range schedules {
		for _, workers := range []int{1, 2, 3, 8, 64} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/%d/%d", name, workers, seed), func(t *testing.T) {
					var got [2][]string
					for i, on := range []bool{false, true} {
						synctest.Test(t, func(t *testing.T) {
							d := &diary{begin: time.Now()}
							p := filch.New(filch.WithWorkers(workers))
							r := trace.New(p)
							if on {
								r.Start()
							}
							program(p, d, rand.New(rand.NewPCG(seed, uint64(workers))))
							if on {
								r.WriteText(io.Discard)
								r.Stop()
							}
							p.Close()
							slices.Sort(d.lines)
							got[i] = d.lines
						})
					}
					if !slices.Equal(got[0], got[1]) {
						t.Errorf("without:\n%q\nwith:\n%q", got[0], got[1])
					}
				})
			}
		}
	}
}
