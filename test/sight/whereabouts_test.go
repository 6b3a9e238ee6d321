package sight

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A stall is logged once, with the task that has run longest, for how long, and where it and other workers are
// blocked; and again when some time has passed.
func TestAStallIsLoggedOnceWithTheLongestTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out rig.SyncBuffer
		p := filch.New(filch.WithWorkers(3), filch.WithName("kitchen"), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		end := make(chan bool)
		begin := func(name string, f func()) {
			p.Go(context.Background(), func(context.Context) { f() }, filch.Named(name))
			synctest.Wait()
			p.Stats()
			time.Sleep(10 * time.Millisecond)
		}
		p.Go(context.Background(), func(ctx context.Context) { filch.Blocking(ctx, func() { <-end }) }, filch.Named("older, without a slot"))
		synctest.Wait()
		time.Sleep(10 * time.Millisecond)
		begin("long", func() { blockedInLong(end) })
		begin("young", func() { <-end })
		begin("sleeps", func() { time.Sleep(time.Hour) })
		for range 50 {
			p.Go(context.Background(), func(context.Context) { <-end })
		}
		time.Sleep(9 * time.Second)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 1 {
			t.Errorf("%d lines:\n%s", len(lines), &out)
		}
		for _, want := range []string{
			`pool=kitchen workers=3 active=3 added=\d+ longest="task long" for=1[2-6]\dms state="chan receive"`,
			` stack="github.com/filch-go/filch/test/sight.blockedInLong whereabouts_test.go:\d+ < github.com/filch-go/filch/test/sight.TestAStallIsLogged\S+ whereabouts_test.go:\d+`,
			` others="\S+TestAStallIsLogged\S+ whereabouts_test.go:\d+.*; \S+TestAStallIsLogged\S+ whereabouts_test.go:\d+`,
		} {
			if !regexp.MustCompile(want).MatchString(lines[0]) {
				t.Errorf("there is no %s in %s", want, lines[0])
			}
		}
		time.Sleep(2 * time.Second)
		for range 50 {
			p.Go(context.Background(), func(context.Context) { <-end })
		}
		time.Sleep(5 * time.Second)
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines after 10 s:\n%s", n, &out)
		}
		close(end)
		p.Close()
	})
}

//go:noinline
func blockedInLong(end chan bool) { <-end }

// A wait with the context of others keeps its slot. What is logged of the stall has the call.
func TestAStallIsLoggedWithTheCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out rig.SyncBuffer
		p := filch.New(filch.WithWorkers(2), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		never := filch.NewPromise[int](p)
		p.Go(context.Background(), func(context.Context) { never.Future().Wait(context.Background()) }, filch.Named("one"))
		p.Go(context.Background(), func(context.Context) { waitsFor(never) }, filch.Named("other"))
		synctest.Wait()
		p.Go(context.Background(), func(context.Context) {})
		time.Sleep(time.Second)
		want := `longest="task (one|other)" for=1\d\dms state=Future.Wait stack=.* others=.*whereabouts_test.go`
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("there is no %s in %s", want, &out)
		}
		never.Complete(0, nil)
		p.Close()
	})
}

//go:noinline
func waitsFor(p *filch.Promise[int]) { p.Future().Wait(context.Background()) }

// A stall of forks has the one that has run longest.
func TestAStallOfForksIsLoggedWithTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out rig.SyncBuffer
		p := filch.New(filch.WithWorkers(2), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		end, begun := make(chan bool), make(chan bool)
		go p.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { <-begun; <-end }, func(*filch.Worker) { close(begun); <-end })
		})
		synctest.Wait()
		p.Go(context.Background(), func(context.Context) {})
		time.Sleep(time.Second)
		if want := `longest="fork of Join" for=1\d\dms state="chan receive" stack="\S+TestAStallOfForks`; !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("there is no %s in %s", want, &out)
		}
		close(end)
		p.Close()
	})
}

// Dump says where workers are: what they compute or wait for; where LongRunning tasks are; and what runs in place
// outside of the workers.
func TestDumpShowsWhereGoroutinesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0), filch.WithQueueLimit(1, filch.CallerRuns))
		end := make(chan bool)
		p.Go(context.Background(), func(context.Context) { blockedInLong(end) }, filch.Named("cooks"))
		f := filch.Submit(context.Background(), p, func(context.Context) (int, error) {
			<-end
			return 0, nil
		})
		synctest.Wait()
		p.Go(context.Background(), func(context.Context) { <-end }, filch.Named("waits"), filch.LongRunning())
		filch.Submit(context.Background(), p, func(context.Context) (int, error) { time.Sleep(time.Hour); return 0, nil }, filch.LongRunning())
		p.Go(context.Background(), func(context.Context) {}, filch.Named("queued"))
		go p.Go(context.Background(), func(context.Context) { <-end })
		synctest.Wait()
		var out strings.Builder
		p.Dump(&out)
		const here = `\S+TestDumpShowsWhereGoroutinesAre\S+`
		for _, want := range []string{
			`(?m)^worker \d .*task cooks; chan receive at github.com/filch-go/filch/test/sight.blockedInLong whereabouts_test.go:\d+$`,
			`(?m)^worker \d .*task ` + here + `; chan receive at ` + here + ` whereabouts_test.go:\d+$`,
			`(?m)^long running +task waits; chan receive at ` + here + ` whereabouts_test.go:\d+$`,
			`(?m)^long running +task ` + here + `; sleep at ` + here + ` whereabouts_test.go:\d+$`,
			`(?m)^in place +task ` + here + `; chan receive at ` + here + ` whereabouts_test.go:\d+$`,
		} {
			if len(regexp.MustCompile(want).FindAllString(out.String(), -1)) != 1 {
				t.Errorf("there is not one %s in\n%s", want, &out)
			}
		}
		if n := strings.Count(out.String(), "in place"); n != 1 {
			t.Errorf("%d lines of what runs in place:\n%s", n, &out)
		}
		close(end)
		f.Wait(context.Background())
		p.Close()
	})
}

// Among very many goroutines, Dump does not stop the world to look for those of the pool.
func TestDumpAmongManyGoroutines(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	end, begun := make(chan bool), make(chan bool)
	defer close(end)
	p.Go(context.Background(), func(context.Context) { close(begun); <-end }, filch.Named("cooks"))
	<-begun
	for _, more := range []int{0, 10_000} {
		for range more {
			go func() { <-end }()
		}
		var out strings.Builder
		p.Dump(&out)
		if looked := strings.Contains(out.String(), " at "); looked != (more == 0) {
			t.Errorf("among %d: %s", more, fmt.Sprint(&out))
		}
	}
}
