package order

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// An acceptedTask is an entry of the ledger: what its submitter was told, and how often it has run.
type acceptedTask struct {
	err error
	ran atomic.Int32
}

func (a *acceptedTask) run() { a.ran.Add(1) }

// submitWays are ways to submit a task from outside that say whether it was accepted. of is the context of a task
// that is over.
var submitWays = map[string]func(p *filch.Pool, of context.Context, a *acceptedTask) error{
	"Go": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		return p.Go(context.Background(), func(context.Context) { a.run() })
	},
	"TryGo": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		return p.TryGo(context.Background(), func(context.Context) { a.run() })
	},
	"Go with a name": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		return p.Go(context.Background(), func(context.Context) { a.run() }, filch.Named("named"))
	},
	"Submit": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		_, err := filch.Submit(context.Background(), p, func(context.Context) (int, error) { a.run(); return 0, nil }).Wait(context.Background())
		return err
	},
	"a group": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		g := p.Group(context.Background())
		g.Go(func(context.Context) error { a.run(); return nil })
		return g.Wait()
	},
	"Go of a task that is over": func(p *filch.Pool, of context.Context, a *acceptedTask) error {
		return p.Go(of, func(context.Context) { a.run() })
	},
	"LongRunning": func(p *filch.Pool, _ context.Context, a *acceptedTask) error {
		return p.Go(context.Background(), func(context.Context) { a.run() }, filch.LongRunning())
	},
}

// endWays are ways to end a pool that return when it has ended. Only Close may drop what was accepted.
var endWays = map[string]func(p *filch.Pool) error{
	"Shutdown": func(p *filch.Pool) error { return p.Shutdown(context.Background()) },
	"Drain": func(p *filch.Pool) error {
		defer func() { <-p.Done() }()
		return p.Drain()
	},
	"Close": (*filch.Pool).Close,
}

// A task that was accepted while the pool came to its end runs, unless Close drops it, and one that was refused does not. Four
// submitters go on until they are refused.
func TestWhatIsAcceptedAtTheEndRuns(t *testing.T) {
	rounds := rig.Fewer(4000)
	if rig.LongForm() {
		rounds = 100_000
	}
	seen := rig.Observer(func(filch.Event) {})
	pools := map[string][]filch.Option{
		"plain":       {filch.WithWorkers(2)},
		"one worker":  {filch.WithWorkers(1)},
		"FIFO":        {filch.WithOrder(filch.FIFO)},
		"by priority": {filch.WithOrder(filch.ByPriority), filch.WithWorkers(2)},
		"limited":     {filch.WithQueueLimit(2, filch.Block), filch.WithTaskLimit(3, filch.Block)},
		"in place":    {filch.WithQueueLimit(1, filch.CallerRuns)},
		"seen":        {filch.WithObserver(seen)},
	}
	n := rounds / (len(submitWays) * len(endWays) * len(pools))
	for way, submit := range submitWays {
		for name, opts := range pools {
			for ending, end := range endWays {
				t.Run(fmt.Sprintf("%s/%s/%s", way, name, ending), func(t *testing.T) {
					for range max(1, n) {
						if !acceptedRound(t, opts, submit, end, ending == "Close") {
							return
						}
					}
				})
			}
		}
	}
}

// acceptedRound reports whether what one pool accepted has run.
func acceptedRound(t *testing.T, opts []filch.Option, submit func(*filch.Pool, context.Context, *acceptedTask) error, end func(p *filch.Pool) error, mayDrop bool) bool {
	const submitters, most = 4, 200
	p := filch.New(append(opts, filch.WithStallTimeout(0))...)
	of, err := filch.Submit(t.Context(), p, func(ctx context.Context) (context.Context, error) { return context.WithoutCancel(ctx), nil }).Wait(t.Context())
	if err != nil {
		t.Fatal("filch.Submit(t.Context(), p, …).Wait(t.Context()):", err)
	}
	var ledger [submitters][]*acceptedTask
	var all sync.WaitGroup
	for i := range ledger {
		all.Go(func() {
			for len(ledger[i]) < most {
				a := &acceptedTask{}
				ledger[i] = append(ledger[i], a)
				if a.err = submit(p, of, a); errors.Is(a.err, filch.ErrClosed) {
					return
				}
			}
		})
	}
	for range rand.IntN(20) {
		runtime.Gosched()
	}
	if err := end(p); err != nil {
		t.Errorf("the end: %v", err)
	}
	all.Wait()
	ran := int32(1)
	for i := range ledger {
		for j, a := range ledger[i] {
			n := a.ran.Load()
			ran += n
			if want := a.err == nil; n > 1 || n == 1 && !want || n == 0 && want && !mayDrop {
				t.Errorf("task %d of submitter %d has run %d times; its submitter was told: %v", j, i, n, a.err)
			}
		}
	}
	if s := p.Stats().Tasks; s.Done != int64(ran) || s.Submitted != s.Done+s.Cancelled || s.Queued != 0 {
		t.Errorf("%d tasks have run: %+v", ran, s)
	}
	return !t.Failed()
}
