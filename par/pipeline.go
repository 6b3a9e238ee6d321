package par

import (
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/filch-go/filch"
)

// Pipeline is a source of values and a sequence of stages that each value passes through: [From], then [Stage], then
// [Pipeline.Run]. It may run several times, and concurrently, if its source and functions allow that.
type Pipeline[T any] struct {
	// lay adds the stages to a line, and returns where the values come out: one element per slot.
	lay func(l *line) []T
}

// From begins a Pipeline with the values of source. Any free worker pulls the next value when there is room for it, one
// at a time, with iter.Pull. So neither source nor the caller of [Pipeline.Run] may be locked to a thread with
// runtime.LockOSThread: that ends the program. Workers pinned by [filch.WithAffinity] are allowed; once such a pool
// exists, each value costs a goroutine more.
func From[T any](source iter.Seq[T]) *Pipeline[T] {
	checkFunc("From", source == nil)
	return &Pipeline[T]{func(l *line) []T {
		values := make([]T, l.inFlight)
		next, stop := pull(source)
		l.pull = func(slot int) (ok bool) {
			values[slot], ok = next()
			return ok
		}
		l.stop = stop
		return values
	}}
}

// Stage returns p with one more stage, which replaces each value by the result of f. It calls f for up to width values
// at a time, or for any number if width is 0. With a width of 1, it calls f in the order of the source. It panics if
// width is negative.
func Stage[T, R any](p *Pipeline[T], width int, f func(v T) (R, error)) *Pipeline[R] {
	checkFunc("Stage", f == nil)
	return addStage("Stage", p, width, func(_ filch.Scope, v T) (R, error) { return f(v) })
}

// StageScope is [Stage] for an f that calls other functions of this package, or forks. The Scope passed to f is the
// running worker; see [ForScope].
func StageScope[T, R any](p *Pipeline[T], width int, f func(s filch.Scope, v T) (R, error)) *Pipeline[R] {
	checkFunc("StageScope", f == nil)
	return addStage("StageScope", p, width, f)
}

func addStage[T, R any](op string, p *Pipeline[T], width int, f func(s filch.Scope, v T) (R, error)) *Pipeline[R] {
	p.check(op)
	checkNumber(op, "width", width)
	return &Pipeline[R]{func(l *line) []R {
		in, out := p.lay(l), make([]R, l.inFlight)
		l.stages = append(l.stages, stage{width: width, run: func(s filch.Scope, slot int) (err error) {
			v := in[slot]
			clear(in[slot : slot+1])
			out[slot], err = f(s, v)
			return err
		}})
		return out
	}}
}

// Run takes all values through the stages, and calls sink for each result, one at a time, in the order of the source.
// It returns when the source has ended and no call runs. It pulls no more values than [InFlight] has room for, and
// stops the source as break stops a loop.
//
// Run returns the error of the first value in the order of the source that has one, as a serial loop would. sink has
// been called for all values before it and none after; stages may have been called for later ones. If [WithContext]
// stops it, Run returns the context's error, unless a value failed and all before it are through. A panic of the source
// or a stage reaches the caller once. On a closed pool Run returns [filch.ErrClosed] without using its source; if the
// pool is closed later, the values continue with fewer workers. Inside a worker, Run keeps its worker slot while it
// waits.
//
// A worker carries a value from stage to stage while the next stage has room for it, and then continues with the value
// that is furthest along, as Navarro, Asenjo, Tabik and Caşcaval describe for TBB ("Analytical modeling of pipeline
// parallelism", PACT 2009). A step costs some hundred nanoseconds and allocates nothing.
func (p *Pipeline[T]) Run(s filch.Scope, sink func(v T) error, opts ...Option) error {
	check("Pipeline.Run", s)
	p.check("Pipeline.Run")
	checkFunc("Pipeline.Run", sink == nil)
	l := &line{config: configOf("Pipeline.Run", opts, inFlight|untilDone|workersAtOnce), carriers: 1, coming: 1}
	_, l.outside = s.(*filch.Pool)
	l.left.L = &l.mu
	l.failed.limit.Store(math.MaxInt)
	if err := tryDo(s, func(w *filch.Worker) { l.pool = w.Pool() }); err != nil {
		return err
	}
	if l.inFlight == 0 {
		l.inFlight = 4 * l.pool.Workers()
	}
	l.at = make([]int, l.inFlight)
	Stage(p, 1, func(v T) (struct{}, error) { return struct{}{}, sink(v) }).lay(l)
	err := l.run(s)
	if l.broken {
		if l.fault == nil {
			runtime.Goexit()
		}
		panic(l.fault) // as the guest's Do raised it
	}
	if err != nil {
		return err
	}
	if l.failed.stopped != nil && l.through() < l.failed.first {
		return l.failed.stopped // some values before the error are not through
	}
	return l.failed.err(false)
}

func (p *Pipeline[T]) check(op string) {
	if p == nil || p.lay == nil {
		panic("par: " + op + ": the Pipeline is not from From or Stage")
	}
}

// line is a pipeline at work. Values are numbered in the order of the source; value i has slot i modulo the number of
// slots until it is through.
type line struct {
	config
	pool   *filch.Pool
	pull   func(slot int) bool
	stop   func()
	failed sharedFailures // limit: the first value that need not continue

	mu       sync.Mutex
	stages   []stage   // and the state of each
	at       []int     // for each slot, the stage that its value is before or in
	begun    int       // values taken from the source
	pulling  bool      // the next value is being taken
	ended    bool      // by the source, or by a panic
	carriers int       // goroutines taking steps
	coming   int       // carriers that have not begun
	guests   int       // goroutines of guests, with those that carry no longer
	outside  bool      // the caller of Run needs a worker slot to carry
	closed   bool      // the pool accepts no more guests
	away     bool      // nor does it admit the caller of Run
	resting  bool      // the caller of Run waits instead of carrying
	left     sync.Cond // signalled when no carriers or no guests are left, or resting is over
	broken   bool      // a guest ended by a panic, or Goexit
	fault    any       // the panic
}

type stage struct {
	width   int // 0: any
	run     func(s filch.Scope, slot int) error
	running int  // values in it
	passed  int  // values that have left it
	waiting ring // values before it, in order of arrival; unused for a width of 1, whose next value is known
}

// source is the stage of a value that has not been taken from the source.
const source = -1

// step is one unit of work: value i through a stage, or from the source.
type step struct{ i, stage int }

// run takes all steps, with the help of guests of the pool. Guests join when there is more to do and a worker slot is
// free, and leave when there is nothing to do. So no carrier waits for another, except the caller of Run. run returns
// an error if that caller was never admitted, so that nothing was begun.
func (l *line) run(s filch.Scope) (err error) {
	inOrder := false
	defer func() {
		l.mu.Lock()
		if !inOrder {
			l.leave()
		}
		for l.carriers > 0 || l.guests > 0 {
			l.left.Wait()
		}
		l.mu.Unlock()
		boundary(l.stop)
	}()
	entered := false
	for again := true; again; again = l.rest() {
		inOrder = false
		if err = tryDo(s, l.carry); err != nil {
			l.turnedAway()
		} else {
			entered = true
		}
		inOrder = true
	}
	if entered {
		return nil
	}
	return err
}

// turnedAway ends a carrier that was not admitted. The step it was called for is not lost: its caller continues, and
// checks for more before it leaves.
func (l *line) turnedAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.away = true, true
	l.coming--
	l.leave()
}

// rest waits until no steps are left, or until there is one for the caller of Run, and then reports true.
func (l *line) rest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = !l.away
	l.callMore()
	for l.resting && l.carriers > 0 {
		l.left.Wait()
	}
	called := !l.resting && !l.away
	l.resting = false
	return called
}

// mayCall reports whether one more goroutine could carry: the caller of Run, or a guest. Do would admit it even without
// a free slot, as a surplus worker. l.mu must be held.
func (l *line) mayCall() bool {
	if l.most > 0 && l.carriers >= l.most {
		return false
	}
	if l.resting && !l.outside {
		return true
	}
	return (l.resting || !l.closed) && l.pool.Idle() > l.coming
}

// callMore calls a carrier if there is a step for it. Besides a carrier that takes a step, whoever has given back a
// worker slot does this: a carrier that has left may hold its slot when others look for a free one. l.mu must be held.
func (l *line) callMore() {
	if !l.mayCall() {
		return
	}
	if _, more := l.first(int(l.failed.limit.Load())); more {
		l.call()
	}
}

// call adds a carrier. l.mu must be held.
func (l *line) call() {
	l.carriers++
	l.coming++
	if l.resting {
		l.resting = false
		l.left.Signal()
		return
	}
	l.guests++
	go l.guest()
}

// leave removes a carrier. l.mu must be held.
func (l *line) leave() {
	if l.carriers--; l.carriers == 0 {
		l.left.Signal()
	}
}

func (l *line) guest() {
	inOrder := false
	defer func() {
		var fault any
		if !inOrder {
			fault = recover()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if !inOrder {
			if !l.broken {
				l.broken, l.fault = true, fault
			}
			l.leave()
		}
		if l.guests--; l.guests == 0 {
			l.left.Signal()
		}
	}()
	err := l.pool.TryDo(l.carry)
	inOrder = true
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.coming--
		l.closed = true
		l.leave()
	}
	l.callMore()
}

// carry takes steps until none can be taken now, and leaves. After each step, a carrier checks which steps it has made
// possible, so every step has a carrier.
func (l *line) carry(w *filch.Worker) {
	l.mu.Lock()
	l.coming--
	l.mu.Unlock()
	for carried := -1; ; {
		st, ok := l.next(carried)
		if !ok {
			return
		}
		l.take(w, st)
		carried = st.i
	}
}

// next returns the step to take: preferably for the value carried last, which is in the cache, and then for the value
// furthest along. If there are more steps, it calls another carrier. If there is none, it removes this carrier.
func (l *line) next(carried int) (st step, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := int(l.failed.limit.Load())
	if st, ok = l.onward(carried, limit); !ok {
		st, ok = l.first(limit)
	}
	if ok && l.ctx != nil && l.ctx.Err() != nil {
		l.failed.stop(l.ctx)
		ok = false
	}
	if !ok {
		l.leave()
		return st, false
	}
	if st.stage == source {
		l.pulling = true
	} else {
		s := &l.stages[st.stage]
		s.running++
		if s.width != 1 {
			s.waiting.remove(st.i)
		}
	}
	l.callMore()
	return st, true
}

// onward returns the next step for value i, if i was the last to arrive where it is.
func (l *line) onward(i, limit int) (step, bool) {
	if i < l.through() || i >= min(limit, l.begun) {
		return step{}, false
	}
	at := l.at[i%l.inFlight]
	s := &l.stages[at]
	if s.width == 1 {
		return step{i, at}, s.running == 0 && s.passed == i
	}
	return step{i, at}, s.hasRoom() && s.waiting.n > 0 && s.waiting.last() == i
}

func (s *stage) hasRoom() bool { return s.width == 0 || s.running < s.width }

// first returns the step of the value furthest along.
func (l *line) first(limit int) (step, bool) {
	for k := len(l.stages) - 1; k >= 0; k-- {
		s := &l.stages[k]
		if !s.hasRoom() {
			continue
		}
		i := s.passed
		if s.width == 1 {
			if i >= l.begun || l.at[i%l.inFlight] != k {
				continue
			}
		} else {
			for s.waiting.n > 0 && s.waiting.first() >= limit {
				s.waiting.remove(s.waiting.first()) // no longer needed
			}
			if s.waiting.n == 0 {
				continue
			}
			i = s.waiting.first()
		}
		if i < limit {
			return step{i, k}, true
		}
	}
	ok := !l.pulling && !l.ended && l.begun-l.through() < l.inFlight && l.begun < limit
	return step{l.begun, source}, ok
}

// through returns how many values have passed all stages. They form a prefix, because the last stage has a width of 1.
func (l *line) through() int { return l.stages[len(l.stages)-1].passed }

// take takes a step.
func (l *line) take(w *filch.Worker, st step) {
	slot, returned := st.i%l.inFlight, false
	more, err := true, error(nil)
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !returned {
			l.failed.limit.Store(0)
			l.ended = true
			return
		}
		if st.stage == source {
			l.pulling = false
			if !more {
				l.ended = true
				return
			}
			l.begun++
		} else {
			s := &l.stages[st.stage]
			s.running--
			if err != nil {
				l.failed.add(st.i, err, false)
				return
			}
			s.passed++
		}
		at := st.stage + 1
		if l.at[slot] = at; at < len(l.stages) && l.stages[at].width != 1 {
			l.stages[at].waiting.add(st.i, l.inFlight)
		}
	}()
	if st.stage == source {
		more = l.pull(slot)
	} else {
		err = l.stages[st.stage].run(w, slot)
	}
	returned = true
}

// ring is a queue of at most as many values as are in flight.
type ring struct {
	buf     []int
	head, n int
}

func (r *ring) first() int { return r.buf[r.head] }
func (r *ring) last() int  { return r.buf[(r.head+r.n-1)%len(r.buf)] }

func (r *ring) add(v, most int) {
	if r.buf == nil {
		r.buf = make([]int, most)
	}
	r.buf[(r.head+r.n)%len(r.buf)] = v
	r.n++
}

// remove removes v, which is the first or the last.
func (r *ring) remove(v int) {
	if v == r.first() {
		r.head = (r.head + 1) % len(r.buf)
	}
	r.n--
}
