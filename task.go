package filch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// Why a task does not run, or ends without a result. Test with errors.Is.
var (
	// ErrClosed is the error of tasks that come after [Pool.Shutdown] or
	// [Pool.Close], or are cancelled by them.
	ErrClosed = errors.New("filch: the pool is closed")
	// ErrQueueFull is the error of tasks for which a limited queue has no room, or a
	// limited number of tasks no slot.
	ErrQueueFull = errors.New("filch: the queue is full")
	// ErrGoexit is the error of tasks that end in runtime.Goexit.
	ErrGoexit = errors.New("filch: the task called runtime.Goexit")
	// ErrInside is the error of a call that would wait for the task that makes it,
	// directly, or by way of another task that waits for that task.
	ErrInside = errors.New("filch: called from inside a task, which would wait for itself")
)

// Order is the order in which a worker takes the tasks of its own queue. With LIFO
// and FIFO, other workers steal the oldest, and the global queue serves the oldest
// first.
type Order int

const (
	// LIFO runs the newest first. So the tasks that a task submits run while the data
	// they share is in the cache, and few tasks are queued at a time.
	LIFO Order = iota
	// FIFO runs the oldest first. It is for tasks without a waiter, such as
	// events.
	FIFO
	// ByPriority runs the tasks with the lowest number of [AtPriority] first. Tasks of
	// one priority run in the order in which they came into their queue. A worker compares
	// its own queue with the global one and takes the more urgent task; its own goes first
	// if they are equal. If its own queue is empty, it steals half of the tasks of the best
	// priority that another worker has, 33 at most, unless the global queue has a more
	// urgent one. At last it takes from the global queue. So when a worker takes a task,
	// neither its own queue nor the global one has a more urgent task, but another
	// worker's queue may. There are exceptions: a task that runs because something waits
	// for it, by [Pool.Help], or with [CallerRuns]; and after 60 tasks that were not
	// global, a worker takes one from the global queue, however urgent.
	//
	// Forks and loops give way. If no worker is idle, a worker that runs those of a less
	// urgent task gives its place to the queued one when it next looks for demand: at a
	// fork, a join or [Worker.Poll], and in loops of package par after an element, or
	// after about 10 us of elements that take less. It goes on when nothing more urgent
	// is queued. So an urgent task starts after one leaf. Forks of [Pool.Do] have the
	// priority 0. The caller's own goroutine does not give way, nor does that of a guest in
	// the Scope of a task; see [ScopeOf].
	//
	//figure:set 10 us
	//
	// A task that a more urgent one always precedes may wait for ever, if
	// [WithAgeing] does not see to it. A worker's queue holds 256 tasks: if it is full,
	// the less urgent half moves to the global queue. In the queue a task takes 40
	// bytes if many have its priority, and up to 300 if none has.
	ByPriority
)

// String returns the name of the order.
func (o Order) String() string { return nameOf("Order", int(o), "LIFO", "FIFO", "ByPriority") }

// Overflow is what happens to a task that exceeds a limit of queued or unfinished
// tasks; see [WithQueueLimit] and [WithTaskLimit].
type Overflow int

const (
	// Block makes the submitter wait until there is room, or its context ends.
	// A task that submits lets another worker have its place meanwhile.
	Block Overflow = iota
	// Reject refuses the task, with ErrQueueFull.
	Reject
	// CallerRuns runs the task on the submitter's goroutine, at once.
	CallerRuns
)

// String returns the name of the overflow.
func (o Overflow) String() string {
	return nameOf("Overflow", int(o), "Block", "Reject", "CallerRuns")
}

func nameOf(kind string, i int, names ...string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// TaskOption says how one task is to be run.
type TaskOption interface{ taskOption() }

type taskOptions struct {
	priority    int
	name        string
	deadline    time.Time
	longRunning bool
	fair        bool
	detached    bool // nobody has the Future
}

// plain reports whether a task with these options needs no more than one without, once
// it is queued.
func (o *taskOptions) plain() bool {
	return o.name == "" && o.deadline.IsZero() && !o.longRunning
}

type (
	atPriority  int
	named       string
	within      time.Duration
	longRunning struct{}
	fair        struct{}
)

func (atPriority) taskOption()  {}
func (named) taskOption()       {}
func (within) taskOption()      {}
func (longRunning) taskOption() {}
func (fair) taskOption()        {}

// AtPriority sets the priority of a task. Lower numbers run first. The default is 0; a
// task does not inherit the priority of the task that submits it. A pool whose order is
// not [ByPriority] refuses any number but 0. Any int is a priority, for example a
// deadline in milliseconds since a fixed moment. Queues are fastest if the priorities of
// waiting tasks are within some thousands of each other.
func AtPriority(n int) TaskOption { return atPriority(n) }

// Named gives a task a name, for [Pool.Dump], [Event], profiles and traces.
func Named(name string) TaskOption { return named(name) }

// Within limits the time from the submission of a task to its end. After that
// its context is cancelled. A task that has not started by then never does. The time
// must be positive.
func Within(d time.Duration) TaskOption { return within(d) }

// LongRunning gives a task a goroutine of its own at once: it takes no worker's
// place, and no room in the queue.
func LongRunning() TaskOption { return longRunning{} }

// Fair queues a task that another task submits behind all that is queued from
// outside, not in its worker's own queue.
func Fair() TaskOption { return fair{} }

// optionsOf collects opts. The error is of the first that cannot be met.
func (p *Pool) optionsOf(op string, opts []TaskOption) (o taskOptions, err error) {
	refuse := func(e error) {
		if err == nil {
			err = e
		}
	}
	for i, opt := range opts {
		switch opt := opt.(type) {
		case atPriority:
			if o.priority = int(opt); opt != 0 && p.order != ByPriority {
				refuse(fmt.Errorf("filch: AtPriority(%d): the order of the pool is %v", opt, p.order))
			}
		case named:
			o.name = string(opt)
		case within:
			if o.deadline = time.Now().Add(time.Duration(opt)); opt <= 0 {
				refuse(fmt.Errorf("filch: Within(%v): the time must be positive", time.Duration(opt)))
			}
		case longRunning:
			o.longRunning = true
		case fair:
			o.fair = true
		default:
			panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
		}
	}
	return o, err
}

// Go queues f and does not wait for it. f is called with a context that has the values
// of ctx, and that ends when ctx does or when the pool is closed. If ctx ends before f is
// called, f is not called. Inside f, pass that context to Go, [Submit], [ScopeOf] and
// Wait: by it they use the same worker. The context does not end when f returns. Once
// f has returned and the context is unreachable, its channel may be closed.
//
// Go waits for room in the queue only if [WithQueueLimit] says so, and for a slot only if
// [WithTaskLimit] does, at most until ctx ends. It returns an error, and f is not called,
// if the pool is closed, the queue is full, or ctx has ended. A panic in f goes to the
// handler of [WithPanicHandler]. Without a handler it ends the program, like that of any
// goroutine; with [CallerRuns] it arrives at the caller. runtime.Goexit in f ends f. If f
// runs on the caller's goroutine, it ends that too.
//
// Without options, or with [AtPriority] and [Fair], Go allocates only room in the queue,
// 32 bytes, and costs about as much as an uncontended mutex or two. It panics if ctx or f
// is nil.
func (p *Pool) Go(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	return p.goTask("Go", ctx, f, opts, false)
}

// TryGo is [Pool.Go], but it never waits and never runs f itself: if the queue is
// full, or as many tasks are unfinished as [WithTaskLimit] allows, it returns
// ErrQueueFull.
func (p *Pool) TryGo(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	return p.goTask("TryGo", ctx, f, opts, true)
}

func (p *Pool) goTask(op string, ctx context.Context, f func(ctx context.Context), opts []TaskOption, try bool) error {
	if ctx == nil {
		panic("filch: " + op + ": ctx is nil")
	}
	if f == nil {
		panic("filch: " + op + ": f is nil")
	}
	var o taskOptions
	var err error
	if len(opts) > 0 {
		o, err = p.optionsOf(op, opts)
	}
	if o.plain() && err == nil {
		return p.submit(ctx, task{p.inherited(ctx), plainTask(f)}, o.priority, o.fair, try)
	}
	o.detached = true
	future := newFuture(ctx, p, func(ctx context.Context) (struct{}, error) {
		f(ctx)
		return struct{}{}, nil
	}).with(o, nil)
	if err != nil {
		return future.refuse(ctx, o, err)
	}
	return future.submit(ctx, o, try)
}

// task is what queues hold.
type task struct {
	ctx  context.Context // of the submitter; nil if the body has it
	body body
}

// body is what there is to do, and who wants to know how it ends.
type body interface {
	// start calls the function, for a worker in the given seat, and reports true,
	// unless its context has ended, or another goroutine has started or dropped the
	// task. If exclusive, the caller is the worker's goroutine.
	start(p *Pool, s seat, ctx context.Context, exclusive bool) bool
	// drop ends a task with err, if it has not started.
	drop(p *Pool, err error)
	// catches reports whether fail wants to know of panics. If not, they go on.
	catches(p *Pool) bool
	// fail ends a task whose function did not return, in the given seat, with a
	// *PanicError or ErrGoexit.
	fail(p *Pool, s seat, err error)
	// about tells what is known of the task.
	about() (name string, f any)
}

// plainTask is a task of Go without options.
type plainTask func(ctx context.Context)

func (f plainTask) start(p *Pool, s seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	switch {
	case c.Err() != nil:
		p.dropped()
		p.leaveSlot(s)
		return false
	case p.watched():
		p.watch(c, f, func() error { f(c); return nil })
	default:
		f(c)
	}
	p.leaveSlot(s)
	runtime.KeepAlive(c)
	return true
}

func (f plainTask) drop(p *Pool, _ error) {
	p.leaveSlot(seat{})
	p.dropped()
}

func (f plainTask) catches(p *Pool) bool { return p.onPanic != nil }

func (f plainTask) fail(p *Pool, s seat, err error) {
	p.leaveSlot(s)
	p.crashed(f, err, true)
}

func (f plainTask) about() (string, any) { return "", f }

// dropped counts a task that was cancelled before it started.
func (p *Pool) dropped() { p.ended.cancelled.Add(1) }

// crashed counts a task whose function did not return: err is a *PanicError, or
// ErrGoexit. If handle is set, a panic goes to the handler.
func (p *Pool) crashed(b body, err error, handle bool) {
	panicked, ok := err.(*PanicError)
	if ok {
		p.ended.panicked.Add(1)
	} else {
		p.ended.failed.Add(1)
	}
	if ok && handle && p.onPanic != nil {
		defer p.onPanic(panicked) // even if the observer does not return
	}
	if o := seenOf(b); o != nil {
		o.tell(TaskDone, err)
	}
}

// admits returns why a task of a caller that has ctx is refused, if it is. A pool that is
// being shut down takes tasks from its own.
func (p *Pool) admits(ctx context.Context) error {
	if phase := p.phase.Load(); phase != open {
		if c := taskOf(ctx); phase != draining || c == nil || c.pool != p {
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// submit queues t for a caller that has ctx. If try is set, it neither waits nor runs t.
func (p *Pool) submit(ctx context.Context, t task, priority int, fair, try bool) error {
	if p.observer != nil && seenOf(t.body) == nil {
		return p.submit(ctx, task{t.ctx, p.see(ctx, t.body, priority)}, priority, fair, try)
	}
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	w := p.workerOf(ctx)             // before anything is taken: a method of ctx may panic
	if p.plain && !p.paused.Load() { // what follows, for most: 39 ns for an empty task instead of 45
		if w == nil || fair || !w.tasks.pushAt(priority, 0, t) {
			p.tasks.pushAt(priority, 0, t)
		}
		p.pushed()
		return nil
	}
	if p.slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.room != nil {
		if ran, err := p.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.observer != nil {
		p.announce(t.body, TaskSubmitted, nil, func() {
			p.leaveQueue()
			p.leaveSlot(seat{})
		})
	}
	at := p.pushTime()
	if p.ageing > 0 {
		priority = policy.Aged(priority, at-p.begun, int64(p.ageing))
	}
	if w == nil || fair || int64(priority) < p.way.least.Load() || !w.tasks.pushAt(priority, at, t) {
		p.tasks.pushAt(priority, at, t) // where those that run what is less urgent see it; see way
	}
	p.pushed()
	p.urge()
	return nil
}

// pushed is called when a task was queued.
func (p *Pool) pushed() {
	if !p.wake() || p.phase.Load() == cancelled { // (R10)
		p.dropQueued() // the end of Shutdown, or Close, may have come before the push
	}
	p.guard()
}

// takeRoom takes room in the queue for t, which has a slot. It reports whether it has
// run t instead.
func (p *Pool) takeRoom(ctx context.Context, t task, try bool) (ran bool, err error) {
	if p.room.take() {
		return false, nil
	}
	keeps := false // t its slot
	defer func() { // deferred, since a method of ctx may panic
		if !keeps {
			p.leaveSlot(seat{})
		}
	}()
	switch {
	case try || p.overflow == Reject:
		err = ErrQueueFull
	case p.overflow == CallerRuns:
		if p.runBody(ctx, t, 0, func() { keeps = true }) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = p.room.wait(ctx, p.life)
	}
	if err != nil {
		return false, p.refuse(t.body, err)
	}
	keeps = true
	return false, nil
}

// runBody runs t, which was just accepted, on the caller's goroutine, and calls begins just
// before. It reports false if the pool has ended.
func (p *Pool) runBody(ctx context.Context, t task, without slots, begins func()) bool {
	return p.runHere(ctx, without, func(s seat) (task, bool) {
		begins()
		p.ended.direct.Add(1)
		if s.worker != nil {
			s.worker.tasks.inPlace.direct.Add(1)
		}
		return t, true
	})
}

// refuse counts a task that was not accepted, and returns err.
func (p *Pool) refuse(b body, err error) error {
	if p.observer != nil {
		p.announce(b, TaskRejected, err, func() {})
	}
	p.ended.rejected.Add(1)
	return err
}

// levelOf returns what a task of the given priority that comes now is queued by.
func (p *Pool) levelOf(priority int) int {
	if p.ageing == 0 {
		return priority
	}
	return policy.Aged(priority, now()-p.begun, int64(p.ageing))
}

// runHere runs what next returns, if anything, on the caller's goroutine, in the seat
// that next is called with, and reports whether it did. Who has ctx may be a task of the
// pool, in whose seat it runs, or one of another pool, whose place others can have
// meanwhile.
func (p *Pool) runHere(ctx context.Context, without slots, next func(s seat) (task, bool)) (ran bool) {
	c := taskOf(ctx)
	run := func(s seat) {
		if t, ok := next(s); ok {
			ran = true
			s.slots = without
			p.runCaught(ctx, t, s)
		}
	}
	if c != nil && c.pool == p && c.seat().beginInPlace() {
		defer func() {
			if !ran {
				c.seat().endInPlace()
			}
		}()
		run(c.seat())
		return ran
	}
	if !p.enterBlocked().Ended() { // Close waits for it
		if c != nil && c.pool != p && c.lend() {
			defer c.reclaim()
		}
		defer p.leaveBlocked()
		p.mark(func(uint64, step) { run(seat{}) })
		return ran
	}
	p.leaveBlocked()
	return false
}

// Help runs one queued task on the caller's goroutine, and reports whether there was one.
// It takes a task from the worker's own queue if ctx comes from a task, else the oldest of
// the global queue, else one of another worker's queue. If the order is by priority, it
// takes the most urgent in place of the oldest. Use Help in a loop that waits for
// something other than a Future or a Group. A task that runs on top of another must not
// wait for that one, so the pool never does this by itself. Panics and runtime.Goexit do
// what [Pool.Go] says for CallerRuns. Help panics if ctx is nil.
func (p *Pool) Help(ctx context.Context) bool {
	if ctx == nil {
		panic("filch: Help: ctx is nil")
	}
	return p.runHere(ctx, 0, func(seat) (t task, ok bool) {
		if p.paused.Load() {
			return t, false
		}
		queues := p.queues()
		c := taskOf(ctx)
		own := c != nil && c.pool == p && c.seated()
		if own {
			queues = append([]*taskQueue{&c.worker.tasks}, queues...)
		}
		for i, q := range queues {
			if !q.some.Load() {
				continue
			}
			q.mu.Lock()
			t, ok = q.pop(i == 0 && own && p.order == LIFO)
			q.mu.Unlock()
			if ok {
				p.leaveQueue()
				p.ended.helped.Add(1)
				break
			}
		}
		return t, ok
	})
}

// runLong runs t on a goroutine of its own.
func (p *Pool) runLong(ctx context.Context, t task, try bool) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	if p.slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.enterBlocked().Ended() {
		p.leaveBlocked()
		p.leaveSlot(seat{})
		return p.refuse(t.body, ErrClosed)
	}
	if p.observer != nil {
		p.mark(func(uint64, step) { // Close waits for it by now
			p.announce(t.body, TaskSubmitted, nil, func() {
				p.leaveSlot(seat{})
				p.leaveBlocked()
			})
		})
	}
	p.ended.direct.Add(1)
	p.mu.Lock()
	entry := p.long.PushBack(t.body)
	p.mu.Unlock()
	go p.mark(func(uint64, step) {
		defer p.leaveBlocked()
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.long.Remove(entry)
		}()
		p.runCaught(context.Background(), t, seat{})
	})
	return nil
}

// runCaught runs t elsewhere than at the bottom of a worker's stack, on the
// goroutine of who has ctx. If that is in a seat, it has begun there, and runCaught
// ends it.
func (p *Pool) runCaught(ctx context.Context, t task, s seat) {
	count := &p.ended.inPlace
	if s.worker != nil {
		count = &s.worker.tasks.inPlace
	}
	count.begun.Add(1)
	returned, ran := false, true
	defer func() { // whatever the callbacks do that fail calls
		if !ran {
			count.begun.Add(-1)
		}
		if s.worker != nil {
			s.endInPlace()
		} else if ran {
			count.ended.Add(1)
		}
		if p.labels {
			pprof.SetGoroutineLabels(labelled(ctx))
		}
	}()
	defer func() {
		switch {
		case returned, p.undropped(t.body):
		case t.body.catches(p):
			t.body.fail(p, s, howEnded(recover()))
		default:
			p.leaveSlot(s)
			p.crashed(t.body, ErrGoexit, false) // or a panic, which goes on
		}
	}()
	ran = p.startInPlace(t, s)
	returned = true
}

// howEnded returns the error of a function that did not return: of a panic with
// value v, or of runtime.Goexit if v is nil.
func howEnded(v any) error {
	if v == nil {
		return ErrGoexit
	}
	return panicError(v)
}

// taskQueue is a queue of tasks: a worker's own, or the global one.
type taskQueue struct {
	// some is set if there may be something. It is written under the lock that
	// tasks are pushed under; others load it to spare themselves the lock. A worker
	// that finds nothing clears it. The one that takes the last task does not, since the
	// next often comes at once.
	some atomic.Bool
	best atomic.Int64 // priority of the best task, or nobody's; of the global queue, by priority
	_    [112]byte

	laden   *atomic.Int64        // counts the queues with some set; nil for the global one
	in      *inbox               // where others push, if not nil
	global  *taskQueue           // where tasks go for which there is no room, if not nil
	levels  *queue.Levels[aging] // by priority; then it is used instead of q
	inPlace inPlace              // by who has a seat at its worker

	mu      sync.Mutex
	q       queue.Deque[task]
	gone    bool  // its worker was let go
	pushed  int64 // tasks that were submitted to it
	taken   int64 // tasks that its worker took from anywhere
	before  int64 // taken at the last stamp
	when    int64 // time of the first stamp with that
	ran     int64 // tasks that its worker ran
	stolen  int64 // tasks that its worker took from other workers
	running task  // what its worker took last
	refills int   // times that what was in took the place of q
	turn    policy.Fairness
	seen    int64 // taken at the last look of the watch for stalls
	moved   int   // how many at the front came from other queues: always first come, first served
}

// inPlace counts tasks that run elsewhere than at the bottom of a worker's stack.
type inPlace struct {
	begun  atomic.Int64
	ended  atomic.Int64 // only of those in no worker's seat; see hold
	direct atomic.Int64 // of those begun in a worker's seat, the ones that were never queued
}

// inbox is the back part of the global queue, with a lock of its own, so that
// a push does not wait for a worker that takes: one that finds the rest
// empty moves all that is in here at once. These are the two locks of Michael
// and Scott (PODC 1996), but for lists instead of nodes. With one lock, a
// million tasks of nothing cost 43 ns each instead of 25. Its lock is taken
// after that of the queue.
type inbox struct {
	_      [128]byte
	mu     sync.Mutex
	q      queue.Deque[task]
	pushed int64
	_      [128]byte
}

// chunks are shared by all queues of tasks.
var chunks, parts sync.Pool

// init makes q the queue of a worker of p, or the global one.
func (q *taskQueue) init(p *Pool) {
	global := q == &p.tasks
	switch {
	case p.order == ByPriority:
		q.levels = &queue.Levels[aging]{Parts: &parts}
		if !global {
			q.global = &p.tasks
		}
	case global:
		q.in = &inbox{}
		q.in.q.Chunks = &chunks
	}
	if !global {
		q.laden = &p.laden
	}
	q.q.Chunks = &chunks
	q.best.Store(nobodys)
}

// pushAt adds t, and reports false if the worker was let go. at is what
// pushTime returned.
func (q *taskQueue) pushAt(priority int, at int64, t task) bool {
	if in := q.in; in != nil {
		in.mu.Lock()
		in.pushed++
		if in.q.PushBack(t); at != 0 {
			in.q.Stamp(at)
		}
		q.notEmpty()
		in.mu.Unlock()
		return true
	}
	q.mu.Lock()
	if q.gone {
		q.mu.Unlock()
		return false
	}
	q.pushed++
	q.add(priority, at, t)
	q.mu.Unlock()
	return true
}

// add adds t. The caller holds the lock.
func (q *taskQueue) add(priority int, at int64, t task) {
	if q.levels == nil {
		if q.q.PushBack(t); at != 0 {
			q.q.Stamp(at)
		}
		q.notEmpty()
		return
	}
	switch t := (aging{t, at}); {
	case q.global == nil || q.levels.Len() < policy.OwnQueue:
		q.levels.Push(priority, t)
		q.tellBest()
	default:
		g := q.global
		g.mu.Lock()
		q.levels.Spill(policy.Spilled, g.levels.Push)
		g.levels.Push(priority, t)
		g.tellBest()
		g.notEmpty()
		g.mu.Unlock()
	}
	q.notEmpty()
}

// nobodys is a priority below that of any task, but for the last of all.
const nobodys = math.MaxInt64

// tellBest notes the priority of the best task, for those who do not have the lock.
func (q *taskQueue) tellBest() {
	if q.global != nil {
		return
	}
	best := int64(nobodys)
	if q.levels.Len() > 0 {
		best = int64(q.levels.Best())
	}
	if q.best.Load() != best {
		q.best.Store(best) // (W14)
	}
}

// moreThanIdle reports whether the global queue has more tasks of the best priority than
// there are idle workers to take them. A worker that takes one does not count as idle any
// more when it leaves the lock.
func (p *Pool) moreThanIdle() bool {
	q := &p.tasks
	q.mu.Lock()
	defer q.mu.Unlock()
	idle := max(0, p.idlers())
	return q.levels.Len() > 0 && q.levels.Bests(idle+1) > idle
}

// notEmpty notes that there is something. The caller holds the lock that it
// pushed under.
func (q *taskQueue) notEmpty() {
	if !q.some.Load() {
		q.some.Store(true) // (W10)
		if q.laden != nil {
			q.laden.Add(1) // (W10)
		}
	}
}

// refill is called when q.q is empty: it takes all that was pushed from outside,
// or notes that there is nothing. The caller holds the lock.
func (q *taskQueue) refill() {
	if !q.some.Load() {
		return
	}
	if q.in != nil {
		q.in.mu.Lock()
		defer q.in.mu.Unlock()
		q.q, q.in.q = q.in.q, q.q
		q.refills++
	}
	if q.len() == 0 {
		if q.laden != nil {
			q.laden.Add(-1) // first: who sees the count looks for the flag, again and again
		}
		q.some.Store(false)
	}
}

// len returns how many tasks there are but for the inbox. The caller holds the lock.
func (q *taskQueue) len() int {
	if q.levels != nil {
		return q.levels.Len()
	}
	return q.q.Len()
}

// count returns how many tasks are queued, and how many were submitted to q. The
// caller holds the lock.
func (q *taskQueue) count() (queued int, pushed int64) {
	if q.in == nil {
		return q.len(), q.pushed
	}
	q.in.mu.Lock()
	defer q.in.mu.Unlock()
	return q.len() + q.in.q.Len(), q.in.pushed
}

// leave reports whether the worker of q may be let go: nobody has pushed to it
// with the context of a task that is over. Nobody will, then.
func (q *taskQueue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone = q.len() == 0; q.gone {
		q.refill() // to be counted no more
	}
	return q.gone
}

// batch is tasks on their way from one queue to another.
type batch struct {
	q      queue.Deque[task]
	levels queue.Levels[aging]
}

// give moves up to n tasks to b, and returns how many. The caller holds the lock.
func (q *taskQueue) give(n int, b *batch) int {
	switch {
	case q.levels != nil:
		n = min(n, policy.MostMoved)
		q.levels.MoveBests(n, &b.levels)
		q.tellBest()
		return n
	case n > 2*policy.MostMoved: // chunks move whole
		n = q.q.MoveChunk(&b.q)
	default:
		n = min(n, policy.MostMoved)
		q.q.MoveFront(n, &b.q)
	}
	q.moved = max(0, q.moved-n)
	return n
}

// receive moves the n tasks of b here. The caller holds the lock.
func (q *taskQueue) receive(b *batch, n int) {
	if q.levels != nil {
		b.levels.MoveBests(n, q.levels)
	} else {
		b.q.MoveChunk(&q.q)
		q.moved += n
	}
	q.notEmpty()
}

// pop removes the newest task, unless only such are left that came from other
// queues, or the oldest; or the best. The caller holds the lock.
func (q *taskQueue) pop(newest bool) (t task, ok bool) {
	if q.levels != nil {
		if q.len() == 0 {
			q.refill()
			return t, false
		}
		_, a := q.levels.Pop()
		q.tellBest()
		return a.task, true
	}
	if newest && q.q.Len() > q.moved {
		return q.q.PopBack()
	}
	if q.q.Len() == 0 {
		q.refill()
	}
	q.moved = max(0, q.moved-1)
	return q.q.PopFront()
}

// takeBack removes the newest task, or the best, if it is one that the caller waits
// for, who then calls leaveQueue.
func (q *taskQueue) takeBack(is func(b body) bool) (t task, ok bool) {
	if !q.some.Load() {
		return t, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.levels != nil {
		if q.len() == 0 || !is(q.levels.Peek().body) {
			return t, false
		}
		return q.pop(false)
	}
	if t, ok = q.q.Back(); !ok || !is(t.body) {
		return task{}, false
	}
	q.q.PopBack()
	q.moved = min(q.moved, q.q.Len())
	return t, true
}

// portion returns how many tasks move with the oldest, or the best, to another queue:
// one in share of them all, or of those that are as urgent, unless that is 0, and what
// their priority is. It reports false if there is no task. The caller holds the
// lock.
func (q *taskQueue) portion(share int) (more, priority int, ok bool) {
	if q.len() == 0 {
		q.refill()
	}
	n := q.len()
	switch {
	case n == 0:
		return 0, 0, false
	case q.levels != nil:
		priority = q.levels.Best()
		more = policy.Share(q.levels.Bests(1+policy.MostMoved*share), share)
	default:
		more = policy.Share(n, share)
	}
	return more, priority, true
}

// took notes that the worker of q took t to run it. The caller holds the lock.
func (q *taskQueue) took(t task) {
	q.taken++
	q.running = t
}

// nextTask takes a task from w's own queue, or now and then from the global
// one.
func (w *Worker) nextTask() (t task, ok bool) {
	p, q := w.pool, &w.tasks
	if p.paused.Load() {
		return t, false
	}
	if p.order == ByPriority {
		return w.nextByPriority()
	}
	newest := p.order == LIFO
	if q.turn.Due() { // only w has to do with it
		q.turn.Outside()
		q.mu.Lock()
		buried := newest && q.moved > 0 // from outside, below its own
		q.mu.Unlock()
		if buried {
			newest = false
		} else if t, ok = w.takeFrom(&p.tasks, 0, false); ok { // one, so as not to bury its own
			return t, true
		}
	}
	q.turn.Own()
	q.mu.Lock()
	q.ran += w.ran
	w.ran = 0
	if t, ok = q.pop(newest); ok {
		q.took(t)
	} else {
		q.running = task{}
	}
	q.mu.Unlock()
	if !ok {
		return w.takeFrom(&p.tasks, int(p.limit.Load()), false)
	}
	return t, true
}

// nextByPriority is nextTask, and also takes from other workers.
func (w *Worker) nextByPriority() (t task, ok bool) {
	p, q := w.pool, &w.tasks
	if q.turn.Due() {
		q.turn.Outside()
		if t, ok = w.takeFrom(&p.tasks, 0, false); ok {
			return t, true
		}
	}
	for !p.paused.Load() {
		q.mu.Lock()
		q.ran += w.ran
		w.ran = 0
		n := q.levels.Len()
		if n > 0 && int64(q.levels.Best()) <= p.tasks.best.Load() {
			w.taking = int64(q.levels.Best())
			t, _ = q.pop(false)
			q.took(t)
			q.mu.Unlock()
			q.turn.Own()
			return t, true
		}
		if n == 0 {
			q.refill()
			q.running = task{}
		}
		q.mu.Unlock()
		if n == 0 {
			return w.stealTask()
		}
		if t, ok = w.takeFrom(&p.tasks, 0, false); ok {
			return t, true
		} // else somebody else has taken it
	}
	return t, false
}

// stealTask takes a task from another worker, or from the global queue if there
// is a more urgent one, or none elsewhere.
func (w *Worker) stealTask() (t task, ok bool) {
	p := w.pool
	if p.laden.Load() > 0 {
		all, pass, n := w.others()
		for i := range n {
			if t, ok = w.takeFrom(&all[pass.At(i)].tasks, 2, true); ok {
				w.tasks.turn.Own()
				return t, true
			}
		}
	}
	return w.takeFrom(&p.tasks, int(p.limit.Load()), false)
}

// takeFrom takes the oldest task of q, and moves others with it, one in share of
// them all unless that is 0, to w's queue, which is empty then. By priority it takes
// the best, and others of those that are as urgent, but not from another worker if
// there are more urgent ones in the global queue. Between the two
// queues they are in nobody's sight; but w, which has a place, queues them before
// it does anything else, and wakes another worker.
func (w *Worker) takeFrom(q *taskQueue, share int, steal bool) (t task, ok bool) {
	p := w.pool
	if !q.some.Load() || p.paused.Load() {
		return t, false
	}
	if steal {
		w.count.taskAttempts++
	}
	q.mu.Lock()
	more, priority, ok := q.portion(share)
	if !ok || steal && int64(priority) > p.tasks.best.Load() {
		q.mu.Unlock()
		return t, false
	}
	w.taking = int64(priority)
	if int64(priority) < p.way.least.Load() { // by priority
		more = 0 // others stay where those see them that run what is less urgent
	}
	t, _ = q.pop(false)
	n := q.give(more, &w.batch)
	wake := n > 0 && !w.searching // a searching worker wakes another when it stops
	if w.searching && q == &p.tasks {
		w.searching = false // at once, for mayGiveWay
		p.places.Found()
		wake = true
	}
	q.mu.Unlock()
	own := &w.tasks
	own.mu.Lock()
	own.took(t)
	if steal {
		own.stolen += int64(1 + n)
	}
	if n > 0 {
		own.receive(&w.batch, n)
	}
	own.mu.Unlock()
	if wake {
		p.wake() // (R10)
	}
	return t, true
}

// serve runs t, and whatever else is queued, at the bottom of w's stack. self is
// where the caller keeps w: if somebody still uses w as a Scope in the end, it
// is left to them, and the caller gets another worker.
func (w *Worker) serve(t task, self **Worker) {
	p := w.pool
	s := seat{worker: w, round: w.hold.openRound()}
	w.doing.Store(makeDoing(atTasks, nil, 0))
	defer w.served(self)
	defer w.caughtTask()
	for ok := true; ok; {
		p.leaveQueue() // (W31) w is not idle, and does not count as searching
		w.body = t.body
		if p.order == ByPriority {
			w.setLevel(w.taking)
		}
		if t.body.start(p, s, t.ctx, true) {
			w.ran++
		}
		w.body = nil
		if c := p.counts(p.places.Load()); c.Active > c.Limit || !w.hold.load().hasPlace() || p.global.n.Load() > 0 {
			return
		}
		if p.way.n.Load() > 0 && p.mayPass() {
			return // see passPlace
		}
		t, ok = w.nextTask()
	}
}

// caughtTask is deferred by serve, for a task that panicked, or called runtime.Goexit.
func (w *Worker) caughtTask() {
	b, p := w.body, w.pool
	if b == nil {
		return
	}
	w.body = nil
	w.ran++
	switch {
	case p.undropped(b):
	case b.catches(p):
		b.fail(p, seat{}, howEnded(recover()))
	default:
		p.leaveSlot(seat{})
		p.crashed(b, ErrGoexit, false) // unless it panics, which ends the program
	}
}

// served is deferred by serve, and called whatever the callbacks do that caughtTask
// calls.
func (w *Worker) served(self **Worker) {
	p := w.pool
	unlabel() // what the tasks have set
	w.tasks.mu.Lock()
	w.tasks.ran += w.ran
	w.tasks.running = task{}
	w.tasks.mu.Unlock()
	w.ran = 0
	if w.endRound() {
		p.enter()
		*self = p.hire()
		(*self).runs.Store(true)
		w.runs.Store(false)
	}
}

// endRound begins a new round, and reports whether w is left to another goroutine,
// which uses it as a Scope. Tasks that run on in w's seat, on other goroutines, are
// counted as blocked before that, so that Close waits for them and none can end
// before it is counted.
func (w *Worker) endRound() (left bool) {
	p := w.pool
	for {
		s := w.hold.load()
		n := s.seated()
		p.ended.left.Add(int64(n))
		_ = p.places.EnterBlocked(n)
		left, ok := w.hold.endRound(s)
		if ok {
			return left
		}
		_ = p.places.LeaveBlocked(n) // w counts as well, so the pool is not at rest
		p.ended.left.Add(-int64(n))
	}
}
