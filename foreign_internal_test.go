package filch

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// Of the waits with contexts of the pool's the first hundred are looked at, then one in a hundred;
// and one that is none of the task's own is told of, whatever the task is.
func TestForeignWaitsAreLookedAtNowAndThen(t *testing.T) {
	bg := context.Background()
	told := func(seen int64, foreign bool, opts ...TaskOption) string {
		var out bytes.Buffer
		p := New(WithWorkers(2), WithLogger(slog.New(slog.NewTextHandler(&out, nil))), WithStallTimeout(0))
		defer p.Close()
		for range seen {
			p.checks.Foreign.Due()
		}
		target := Submit(bg, p, one, Named("target"))
		Submit(bg, p, func(outer context.Context) (int, error) {
			noticed := make(chan bool)
			f := Submit(bg, p, func(own context.Context) (int, error) {
				defer close(noticed)
				c := taskOf(own)
				if foreign {
					c = taskOf(outer)
				}
				p.noticeForeign(c, &target.ctx)
				return 0, nil
			}, opts...)
			<-noticed // on another goroutine; this wait is one more
			return f.Wait(outer)
		}).Wait(bg)
		return out.String()
	}
	for seen, looked := range map[int64]bool{0: true, 98: true, 99: true, 100: false, 101: false, 198: false, 199: true, 200: false, 299: true} {
		if s := told(seen, true); (s != "") != looked {
			t.Errorf("wait %d: %q", seen+1, s)
		}
	}
	if s := told(0, false); s != "" {
		t.Errorf("its own context: %s", s)
	}
	for name, opts := range map[string][]TaskOption{
		"task=": nil, "task=worker": {Named("worker")}, "task=long": {Named("long"), LongRunning()},
	} {
		if s := told(0, true, opts...); !strings.Contains(s, name) || !strings.Contains(s, "waits for\"=target") {
			t.Errorf("told(0, true, opts): %s: %q", name, s)
		}
	}
}

func one(context.Context) (int, error) { return 1, nil }

// The context of a pool's task is no foreign one to code that is inside of no task, nor is
// none.
func TestNobodyIsForeignOutsideOfTasks(t *testing.T) {
	var out bytes.Buffer
	p := New(WithWorkers(1), WithLogger(slog.New(slog.NewTextHandler(&out, nil))), WithStallTimeout(0))
	defer p.Close()
	f := Submit(context.Background(), p, one)
	f.Wait(context.Background())
	p.noticeForeign(nil, &f.ctx)
	p.noticeForeign(&f.ctx, &f.ctx)
	if out.Len() > 0 || p.checks.Foreign.Over() {
		t.Error(out.String())
	}
}

// A task's context is told by its address; all that have none may share one.
func TestForeignContextsAreTold(t *testing.T) {
	p := New(WithWorkers(1))
	a, b := newFuture(context.Background(), p, one), newFuture(context.Background(), p, one)
	shared := p.newContext(context.Background(), task.Seat{})
	for _, c := range []struct {
		top     string
		c       *taskContext
		foreign bool
	}{
		{tell.Address(&a.ctx), &a.ctx, false},
		{tell.Address(&a.ctx), &b.ctx, true},
		{tell.Address(&a.ctx), shared, true},
		{"", &a.ctx, true},
		{"", shared, false},
	} {
		s := tell.TaskStack{Tasks: []tell.TaskCall{{Address: c.top}, {Address: tell.Address(&b.ctx)}}}
		if got := isForeign(s, c.c); got != c.foreign {
			t.Errorf("isForeign(s, c.c): %+v: %t", c, got)
		}
	}
}
