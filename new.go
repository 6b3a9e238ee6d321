package filch

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/task"
)

// New returns a pool. It starts no goroutine: workers start when there is work and leave when there is none.
func New(opts ...Option) *Pool {
	c := &config{}
	c.tasks.StallAfter = 100 * time.Millisecond
	c.take("New", opts)
	if c.tasks.Ageing > 0 && c.tasks.Order != task.ByPriority {
		panic(fmt.Sprintf("filch: New: WithAgeing is for the order ByPriority, not %v", Order(c.tasks.Order)))
	}
	strict := c.checked || allChecked()
	p := &Pool{pins: c.pins}
	p.tasks.Init(p.tasksOf(c, strict), c.engine)
	if c.workers > 0 {
		p.tasks.Engine.SetLimit(int32(c.workers), true)
	}
	for _, h := range c.hooks {
		p.tasks.Engine.AddHook(h)
	}
	if p.tasks.Name == "" {
		p.tasks.Name = fmt.Sprint("pool ", p.tasks.Engine.Number)
	}
	p.tasks.BeginChecks(strict)
	p.beginLogicalRaces(c.logical, c.oneOrder)
	if p.pins != nil {
		p.pins.begin(p)
	}
	p.tasks.Engine.Follow()
	return p
}

// allChecked reports whether all pools have checks. It reads the environment for each pool, not once before main: go test
// would not see that, and would show cached results of a run without checks.
func allChecked() bool { return environ.On("FILCH_CHECKS") }

// tasksOf returns the settings for the tasks of p.
func (p *Pool) tasksOf(c *config, strict bool) task.Settings {
	s := c.tasks
	s.Sees = s.Observe != nil || len(c.hooks) > 0 || strict
	s.Plain = s.Order != task.ByPriority && !s.Sees && c.room == 0 && c.slots == 0
	s.InOrder = s.Sees && s.Order == task.FIFO
	if c.room > 0 {
		s.Room = task.NewRoom(c.room, p.tasks.Takers)
	}
	if c.slots > 0 {
		s.Slots = task.NewRoom(c.slots, nil)
	}
	s.Life, s.EndLife = context.WithCancelCause(context.Background())
	s.Life.Done() // makes its channel now, not at first use, which may be in a synctest bubble
	s.Users = users{}
	return s
}

// users gives tasks what they need of the root package.
type users struct{}

func (users) NewWorker(p *task.Pool, id int) *task.Worker { return &newWorker(poolOf(p), id).tasks }

func (users) HowEnded(v any) error {
	if v == nil {
		return ErrGoexit
	}
	return panicError(v)
}

func (users) Shown(w *task.Worker) (string, bool) {
	if shown := asWorker(&w.Engine).shown.Load(); shown != nil {
		return shown.String(), true
	}
	return "", false
}

// defaultPool is the pool of [Default], which cannot be closed.
var defaultPool atomic.Pointer[Pool]

// Default returns the pool that the whole program shares, which is named "default". It is made on first use, follows
// GOMAXPROCS and cannot be closed. Use [New] for a pool with options, or for one that must end.
func Default() *Pool {
	if p := defaultPool.Load(); p != nil {
		return p
	}
	defaultPool.CompareAndSwap(nil, New(WithName("default")))
	return defaultPool.Load()
}

// allLogical reports whether all pools have logical races. It reads the environment as allChecked does.
func allLogical() bool { return environ.On("FILCH_RACES") }

// noRaceTold is set once the program has logged that FILCH_RACES does nothing without the race detector.
var noRaceTold atomic.Bool

func (p *Pool) tellNoRace() {
	if race.Enabled || noRaceTold.Swap(true) {
		return
	}
	logger := p.tasks.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("filch: FILCH_RACES does nothing in a program that was built without -race")
}

// beginLogicalRaces prepares p for logical races if they are wanted here or for all pools, unless p's work runs in one fixed
// order.
func (p *Pool) beginLogicalRaces(wanted, oneOrder bool) {
	all := allLogical()
	if all {
		p.tellNoRace()
	}
	l := &p.tasks.Engine.Logical
	if l.On = race.Enabled && (wanted || all) && !oneOrder; !l.On {
		return
	}
	race.AddLogical(1)
	l.Alias = func() *engine.Worker {
		w := &Worker{pool: p}
		return &w.tasks.Engine
	}
	l.Missed = p.tasks.MissedRaces
}
