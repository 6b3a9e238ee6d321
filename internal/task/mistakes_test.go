package task

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/tell"
)

// Of the waits with contexts of the pool's the first hundred are looked at, then one in a hundred;
// and one that is none of the task's own is told of, whatever the task is.
func TestForeignWaitsAreLookedAtNowAndThen(t *testing.T) {
	bg := context.Background()
	told := func(seen int64, foreign bool, o Options) string {
		var out bytes.Buffer
		p := newPool(2, LIFO, logging(&out))
		defer closeNow(p)
		for range seen {
			p.Checks.Foreign.Due()
		}
		target := submitted(bg, p, one, Options{Name: "target"})
		Wait(bg, submitted(bg, p, func(outer context.Context) error {
			noticed := make(chan bool)
			f := submitted(bg, p, func(own context.Context) error {
				defer close(noticed)
				c := Of(own)
				if foreign {
					c = Of(outer)
				}
				p.noticeForeign(c, &target.Ctx)
				return nil
			}, o)
			<-noticed // on another goroutine; this wait is one more
			return Wait(outer, f)
		}, Options{}))
		return out.String()
	}
	for seen, looked := range map[int64]bool{0: true, 98: true, 99: true, 100: false, 101: false, 198: false, 199: true, 200: false, 299: true} {
		if s := told(seen, true, Options{}); (s != "") != looked {
			t.Errorf("wait %d: %q", seen+1, s)
		}
	}
	if s := told(0, false, Options{}); s != "" {
		t.Errorf("its own context: %s", s)
	}
	for name, o := range map[string]Options{
		"task=": {}, "task=worker": {Name: "worker"}, "task=long": {Name: "long", LongRunning: true},
	} {
		if s := told(0, true, o); !strings.Contains(s, name) || !strings.Contains(s, "waits for\"=target") {
			t.Errorf("told(0, true, opts): %s: %q", name, s)
		}
	}
}

func one(context.Context) error { return nil }

// The context of a pool's task is no foreign one to code that is inside of no task, nor is
// none.
func TestNobodyIsForeignOutsideOfTasks(t *testing.T) {
	var out bytes.Buffer
	p := newPool(1, LIFO, logging(&out))
	defer closeNow(p)
	f := submitted(context.Background(), p, one, Options{})
	Wait(context.Background(), f)
	p.noticeForeign(nil, &f.Ctx)
	p.noticeForeign(&f.Ctx, &f.Ctx)
	if out.Len() > 0 || p.Checks.Foreign.Over() {
		t.Error(out.String())
	}
}

// A task's context is told by its address; all that have none may share one.
func TestForeignContextsAreTold(t *testing.T) {
	p := newPool(1, LIFO)
	var a, b Future
	a.Ctx.Init(context.Background(), p)
	b.Ctx.Init(context.Background(), p)
	shared := p.newContext(context.Background(), Seat{})
	for _, c := range []struct {
		top     string
		c       *Context
		foreign bool
	}{
		{tell.Address(&a.Ctx), &a.Ctx, false},
		{tell.Address(&a.Ctx), &b.Ctx, true},
		{tell.Address(&a.Ctx), shared, true},
		{"", &a.Ctx, true},
		{"", shared, false},
	} {
		s := tell.TaskStack{Tasks: []tell.TaskCall{{Address: c.top}, {Address: tell.Address(&b.Ctx)}}}
		if got := isForeign(s, c.c); got != c.foreign {
			t.Errorf("isForeign(s, c.c): %+v: %t", c, got)
		}
	}
}

// logging is what the option WithLogger of package filch does.
func logging(out io.Writer) func(p *Pool) {
	return func(p *Pool) {
		p.Logger = slog.New(slog.NewTextHandler(out, nil))
		p.BeginChecks(false)
	}
}
