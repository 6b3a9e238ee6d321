package order

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// loop is a task that runs n elements of a millisecond each.
func loop(n int, done chan<- time.Duration) func(ctx context.Context) {
	return func(ctx context.Context) {
		begin := time.Now()
		par.For(filch.ScopeOf(ctx), n, func(int) { time.Sleep(time.Millisecond) })
		done <- time.Since(begin)
	}
}

// A more urgent task starts after an element of the loops that keep the workers.
func TestUrgentTasksBehindLoops(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.ByPriority))
			defer p.Close()
			ctx := context.Background()
			done := make(chan time.Duration, 1)
			p.Go(ctx, loop(50*workers, done), filch.AtPriority(10))
			time.Sleep(5*time.Millisecond + time.Microsecond)
			began := make(chan time.Time, 2)
			urgent := func(context.Context) { began <- time.Now(); time.Sleep(10 * time.Millisecond) }
			submitted := time.Now()
			p.Go(ctx, urgent)
			p.Go(ctx, urgent, filch.AtPriority(20)) // less urgent
			if late := (<-began).Sub(submitted); late > time.Millisecond {
				t.Errorf("%d workers: the urgent task began after %v", workers, late)
			}
			took := <-done
			if least, most := 50*time.Millisecond, 62*time.Millisecond; took < least || took > most {
				t.Errorf("%d workers: the loop took %v", workers, took)
			}
			if late := (<-began).Sub(submitted); workers == 1 && late < 45*time.Millisecond {
				t.Errorf("%d workers: the less urgent task began after %v, before the loop was done", workers, late)
			}
		})
	}
}

// As many workers give way as there are urgent tasks, from inside as well; of several
// loops the least urgent does.
func TestUrgentTasksBehindSeveralLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4), filch.WithOrder(filch.ByPriority))
		defer p.Close()
		ctx := context.Background()
		done := make(chan time.Duration, 4)
		for i := range 3 {
			p.Go(ctx, loop(40, done), filch.AtPriority(10+i))
		}
		var began sync.WaitGroup
		began.Add(3)
		p.Go(ctx, func(ctx context.Context) {
			time.Sleep(5*time.Millisecond + time.Microsecond)
			submitted := time.Now()
			for range 3 {
				p.Go(ctx, func(context.Context) {
					if late := time.Since(submitted); late > time.Millisecond {
						t.Errorf("an urgent task began after %v", late)
					}
					began.Done()
					time.Sleep(20 * time.Millisecond)
				}, filch.AtPriority(5))
			}
			began.Wait()
		}, filch.AtPriority(9))
		for range 3 {
			<-done
		}
	})
}

// What gave way goes on in the end, on all workers, also if its tasks hold a mutex
// that the urgent task wants.
func TestGivingWayWithAMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))
		defer p.Close()
		mutex := make(chan bool, 1)
		ctx := context.Background()
		done := make(chan bool)
		p.Go(ctx, func(ctx context.Context) {
			mutex <- true
			defer func() { <-mutex }()
			par.For(filch.ScopeOf(ctx), 50, func(int) { time.Sleep(time.Millisecond) })
		}, filch.AtPriority(1))
		time.Sleep(5 * time.Millisecond)
		p.Go(ctx, func(context.Context) { mutex <- true; close(done); <-mutex })
		<-done
	})
}

// Tasks from outside start behind fork-join work without end, after the time of the
// watch for stalls.
func TestTasksStartBehindEndlessForks(t *testing.T) {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO} {
		for name, start := range map[string]func(p *filch.Pool, f func(s filch.Scope)){
			"of a task": func(p *filch.Pool, f func(s filch.Scope)) {
				p.Go(context.Background(), func(ctx context.Context) { f(filch.ScopeOf(ctx)) })
			},
			"of a guest": func(p *filch.Pool, f func(s filch.Scope)) { p.Do(func(w *filch.Worker) { f(w) }) },
		} {
			t.Run(order.String()+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(2), filch.WithOrder(order))
					defer p.Close()
					started := make(chan bool)
					submitted, n := time.Time{}, 0
					over := make(chan bool)
					go start(p, func(s filch.Scope) {
						defer close(over)
						par.For(s, 100_000, func(int) {
							select {
							case <-started:
							default:
								time.Sleep(time.Millisecond)
							}
						})
					})
					time.Sleep(10 * time.Millisecond)
					for n < 3 {
						submitted = time.Now()
						p.Go(context.Background(), func(context.Context) { n++; started <- true })
						<-started
						if late := time.Since(submitted); late > 127*time.Millisecond {
							t.Errorf("a task began after %v", late)
						}
					}
					close(started)
					<-over
				})
			})
		}
	}
}
