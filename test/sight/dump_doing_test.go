package sight

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// Dump shows the function of each call from outside, and of each inside of a task until that
// goes on.
func TestDumpShowsCallsFromOutside(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		defer p.Close()
		shows := func(what string) bool {
			synctest.Wait()
			var b strings.Builder
			p.Dump(&b)
			return strings.Contains(b.String(), what+" of github.com/filch-go/filch/test/sight.TestDumpShowsCallsFromOutside.func")
		}
		for name, do := range map[string]func(f func(w *filch.Worker)){
			"Do":        p.Do,
			"TryDo":     func(f func(w *filch.Worker)) { p.TryDo(f) },
			"DoContext": func(f func(w *filch.Worker)) { p.DoContext(context.Background(), f) },
		} {
			ran := false
			do(func(*filch.Worker) {
				if ran = true; !shows("Do") {
					t.Errorf("%s is not shown", name)
				}
			})
			if !ran || shows("Do") {
				t.Errorf("%s ran: %t; it is shown afterwards", name, ran)
			}
		}
		call := filch.NewFunc(func(*filch.Frame[int, bool], int) bool { return shows("Call") })
		if !call.Call(p, 0) {
			t.Error("Call is not shown")
		}
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			s := filch.ScopeOf(ctx)
			s.Do(func(*filch.Worker) {
				if !shows("Do") {
					t.Error("Do of a task's Scope is not shown")
				}
			})
			if shows("Do") {
				t.Error("Do of a task's Scope is shown when it is over")
			}
			if !call.Call(s, 0) {
				t.Error("Call in a task's Scope is not shown")
			}
			s.(interface {
				TryDo(f func(w *filch.Worker)) error
			}).TryDo(func(w *filch.Worker) {
				if !shows("Do") || call.Call(w, 0) {
					t.Error("a Call on a Worker is shown in the place of what began there")
				}
			})
			return 0, nil
		}).Wait(context.Background())
	})
}

// Dump shows what gave way, until that goes on.
func TestDumpShowsWhatGaveWay(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority), filch.WithStallTimeout(0))
		defer p.Close()
		dump := func() string {
			var b strings.Builder
			p.Dump(&b)
			return b.String()
		}
		given := ""
		less := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
				p.Go(context.Background(), func(context.Context) { given = dump() }, filch.AtPriority(1))
				w.Poll()
				if s := dump(); !strings.Contains(s, "Do of ") || strings.Contains(s, "given way") {
					t.Errorf("when it goes on:\n%s", s)
				}
			})
			return 0, nil
		}, filch.AtPriority(9))
		less.Wait(context.Background())
		if !strings.Contains(given, "has given way to tasks, without a slot") {
			t.Errorf("while it waits:\n%s", given)
		}
	})
}
