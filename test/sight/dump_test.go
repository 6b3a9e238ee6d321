package sight

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/par"
)

// Dump shows what each worker is at: a task, a call from outside, a stolen fork, a wait
// at a join, a loop and how far it is.
func TestDumpShowsWhatWorkersAreAt(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4), filch.WithName("kitchen"), filch.WithQueueLimit(2, filch.Block), filch.WithStallTimeout(time.Hour))
		release := make(chan bool)
		wait := func() { <-release }
		begun := make(chan bool)
		go p.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { <-begun }, func(*filch.Worker) { close(begun); wait() })
		})
		synctest.Wait()
		go chop.Call(p, wait)
		synctest.Wait()
		go p.Do(func(*filch.Worker) { wait() })
		synctest.Wait()
		p.Go(context.Background(), func(ctx context.Context) {
			par.For(filch.ScopeOf(ctx), 1000, func(i int) {
				time.Sleep(time.Millisecond)
				if i == 100 {
					wait()
				}
			}, par.WithGrain(1))
		}, filch.Named("dice"))
		time.Sleep(time.Minute)
		p.Dump(&strings.Builder{})
		time.Sleep(time.Minute)
		p.Go(context.Background(), func(context.Context) { wait() }, filch.Named("watch"), filch.LongRunning())
		for range 3 {
			go p.Go(context.Background(), func(context.Context) {}, filch.Named("serve"))
		}
		synctest.Wait()
		time.Sleep(3 * time.Second)
		var b strings.Builder
		p.Dump(&b)
		time.Sleep(5 * time.Second)
		b.Reset()
		p.Dump(&b)
		t.Log("\n" + b.String())
		for _, want := range []string{
			`kitchen: 4 workers, 0 extra; \d slots taken, 0 searching, \d goroutines? blocked`,
			`tasks: 4 submitted, 0 done \(0 failed, 0 panicked\), 0 cancelled, 0 rejected, 2 queued \(2 globally, the oldest for 8s\), 1 submitter waiting for room`,
			`worker 0 +waits for a fork that worker 1 has, without a slot`,
			`worker 1 +fork of Join from worker 0, for 2m8s`,
			`worker \d +Call of github.com/filch-go/filch/test/sight.init\S+`,
			`worker \d +task dice, for \dm8s or more; par loop of github.com/filch-go/filch/test/sight.TestDumpShows\S+, 100 of 1000 done`,
			`Do of github.com/filch-go/filch/test/sight.TestDumpShows\S+`,
			`long running +task watch`,
		} {
			if !regexp.MustCompile(want).MatchString(b.String()) {
				t.Errorf("there is no %s", want)
			}
		}
		close(release)
		p.Shutdown(context.Background())
		b.Reset()
		p.Dump(&b)
		if n := strings.Count(b.String(), "\n"); n != 2 {
			t.Errorf("at rest:\n%s", &b)
		}
	})
}

var chop = filch.NewFunc(func(f *filch.Frame[func(), int], wait func()) int { wait(); return 0 })
