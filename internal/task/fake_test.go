package task

import (
	"context"
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/place/placetest"
)

// newPool returns a pool with some places. What package filch does for a pool is not there.
func newPool(places int, order Order, with ...func(p *Pool)) *Pool {
	p := &Pool{}
	p.Order = order
	p.Users, p.Urgency = users{}, ByUrgency{}
	p.Life, p.EndLife = context.WithCancelCause(context.Background())
	for _, f := range with {
		f(p)
	}
	p.Init(p.Settings, p.Engine.Settings)
	p.Engine.SetLimit(int32(places), true)
	return p
}

// users stands above a pool.
type users struct{}

func (users) NewWorker(p *Pool, id int) *Worker { return newWorker(p, id) }
func (users) HowEnded(v any) error              { return fmt.Errorf("ended with %v", v) }
func (users) Shown(*Worker) (string, bool)      { return "", false }

// submitted submits a task.
func submitted(ctx context.Context, p *Pool, f func(ctx context.Context) error, o Options) *errTask {
	t := &errTask{f: f}
	t.Ctx.Init(p.Inherited(ctx), p)
	t.With(o, nil)
	if err := SubmitFuture(ctx, t, &o, false); err != nil {
		Resolve(t, err)
	}
	return t
}

// stallAfter sets how long a pool lets tasks wait before it looks for a stall.
func stallAfter(d time.Duration) func(p *Pool) { return func(p *Pool) { p.StallAfter = d } }

func newWorker(p *Pool, id int) *Worker {
	w := &Worker{}
	w.Init(p, id)
	return w
}

// job is a Body that calls a function, and keeps nothing of how that ends.
type job func()

func (f job) Start(*Pool, Seat, context.Context, bool) bool { f(); return true }

func (f job) Drop(*Pool, error) {}

func (f job) Catches(*Pool) bool { return true }

func (f job) Fail(*Pool, Seat, error) {}

func (f job) Crash(*Pool, Seat) {}

func (f job) About() (string, any) { return "", f }

// none is a task that does nothing.
var none = Task{context.Background(), job(func() {})}

// numbered is a task to be told from others.
func numbered(n int, got *int) Task {
	return Task{context.Background(), job(func() { *got = n })}
}

func (t Task) run() { t.Body.(job)() }

func (q *Queue) push(priority int, t Task) bool { return q.Push(priority, 0, t) }

func (q *Queue) pop(newest bool) (Task, bool) { return q.items.pop(q, newest) }

func (q *Queue) len() int { return q.items.len() }

func (q *Queue) list() *list { return q.items.(*list) }

// age returns for how long the oldest task has been queued.
func (q *Queue) age() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stamp(clock.Now())
	return q.items.oldest(clock.Now())
}

// engines returns a list of workers as the engine has it.
func engines(ws ...*Worker) *[]*engine.Worker {
	all := []*engine.Worker{}
	for _, w := range ws {
		all = append(all, &w.Engine)
	}
	return &all
}

// counted is what places are set to, and compared with.
type counted struct{ Active, Searching, Blocked int }

// placesOf returns the counts of p.
func placesOf(p *Pool) counted { return counted(placetest.Of(&p.Engine.Places)) }

// setPlaces makes the counts of p those.
func setPlaces(p *Pool, c counted) { placetest.Set(&p.Engine.Places, placetest.Counts(c)) }
