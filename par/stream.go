package par

import (
	"context"
	"errors"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/standby"
)

// Stream is a [Pipeline] that values are pushed into: code that has them one after the other calls
// Send, as the Write of an io.Writer does. Make one with [NewStream].
type Stream[T any] struct {
	ctx   context.Context
	group *filch.Group // of the tasks, one a value; its context ends with the first error
	run   func(ctx context.Context, i int, v T) error
	room  chan struct{} // has an entry for each value that is under way
	close func() error

	mu      sync.Mutex
	sent    int            // under mu; the number of the next value
	closed  bool           // under mu; no more are taken
	refused error          // under mu; why the first was not taken
	senders sync.WaitGroup // that are about to submit a task; joined under mu, while closed is not set
}

// outlet hands the results of a Stream to its sink.
type outlet[R any] struct {
	sink func(ctx context.Context, r R) error
	room <-chan struct{}

	mu   sync.Mutex
	ring []outcome[R] // under mu; result i has place i modulo their number until it is handed on
	next int          // under mu; the number of the result that is to be handed on next
}

// outcome is what f has returned for a value.
type outcome[R any] struct {
	there  bool
	result R
	err    error
}

// NewStream returns a Stream. Each value that is sent goes through f in a task of p, so up to as
// many at a time as p has workers. The results go to sink, one at a time, in the order of Send,
// each as soon as all before it are through. So a Stream compresses blocks for a file, or calls
// back with the results of tasks in the order of their submission. For a stage that must see the
// values in their order, let the sink send to another Stream.
//
// With [InFlight](n), at most n values are under way: sent, and not yet through sink. The default
// is four for each worker. Send blocks while there are as many.
//
// The first error of f or sink, in the order of the values, ends the Stream. sink has been
// called for all values before, and for none after; f may have been. A panic or runtime.Goexit in
// either is an error, a [*filch.PanicError] or [filch.ErrGoexit], and ends the Stream at once, as
// the end of ctx does and the end of p. Then no f begins any more, and sink may miss values
// before, but has still been called for the first ones without a gap.
//
// f and sink are called with a context of their task, which also ends with the Stream. sink is
// called by the task that brings the result which is next; if it blocks, let it do so in
// [filch.Blocking]. Neither may send to its own Stream, nor close it.
//
// A value costs a task of a [filch.Group], an allocation, or three if Send waits, and two uncontended
// locks. It pays if f takes more than some microseconds. NewStream does not block. It panics if an argument is nil.
func NewStream[T, R any](ctx context.Context, p *filch.Pool, f func(ctx context.Context, v T) (R, error), sink func(ctx context.Context, r R) error, opts ...Option) *Stream[T] {
	if ctx == nil {
		panic("par: NewStream: ctx is nil")
	}
	if p == nil {
		panic("par: NewStream: p is nil")
	}
	checkFunc("NewStream", f == nil || sink == nil)
	c := configOf("NewStream", opts, inFlight)
	if c.inFlight == 0 {
		c.inFlight = 4 * p.Workers()
	}
	s := &Stream[T]{ctx: ctx, group: p.Group(ctx), room: make(chan struct{}, c.inFlight)}
	o := &outlet[R]{sink: sink, room: s.room, ring: make([]outcome[R], c.inFlight)}
	s.run = func(ctx context.Context, i int, v T) error {
		r, err := f(ctx, v)
		return o.handOn(ctx, i, outcome[R]{true, r, err})
	}
	s.close = sync.OnceValue(s.finish)
	return s
}

// Send passes v on, and waits if there is no room for it. It returns nil if v was taken. If not,
// it returns the error that has ended the Stream, and so will each later Send, and Close. After
// Close it returns an error. Send may be called from any goroutine; the order of the values is
// that in which the calls find room.
//
// If the Stream was made in a task, Send gives up the place of that task while it waits. In
// another task, use SendFrom.
func (s *Stream[T]) Send(v T) error { return s.send(s.ctx, v) }

// SendFrom is [Stream.Send] for the task, if any, that ctx comes from, whose place it gives up
// while it waits. If ctx ends first, it returns the cause, and does not take v. That ends the
// Stream only if it was made with ctx, or if Send was waiting for a limit of the pool, with a
// place for v in the order. It panics if ctx is nil.
func (s *Stream[T]) SendFrom(ctx context.Context, v T) error {
	if ctx == nil {
		panic("par: Stream.SendFrom: ctx is nil")
	}
	return s.send(ctx, v)
}

// Close waits until all values are through, and returns the first error, as [NewStream] says. A
// Stream that is not closed keeps what its context keeps until that ends. Close may be called more
// than once, and returns the same each time. If the Stream was made in a task, it must be called
// there, or inside [filch.Blocking]: it gives up the place of that task while it waits, and runs
// some of the tasks.
func (s *Stream[T]) Close() error { return s.close() }

var errStreamClosed = errors.New("par: Stream.Send: the Stream was closed")

func (s *Stream[T]) send(ctx context.Context, v T) error {
	if err := s.takeRoom(ctx); err != nil {
		return s.refuse(err)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.room
		return errStreamClosed
	}
	i := s.sent
	s.sent++
	s.senders.Add(1)
	s.mu.Unlock()
	defer s.senders.Done()
	s.group.GoFrom(ctx, func(ctx context.Context) error { return s.run(ctx, i, v) }, filch.Fair()) // the oldest first
	if s.group.Context().Err() != nil {
		return s.refuse(s.ended())
	}
	return nil
}

// takeRoom waits until there is room for a value, and takes it.
func (s *Stream[T]) takeRoom(ctx context.Context) error {
	select {
	case <-s.group.Context().Done():
		return s.ended()
	default:
	}
	select {
	case s.room <- struct{}{}:
		return nil
	default:
		return s.waitForRoom(ctx)
	}
}

// waitForRoom is what takeRoom does if there is none. It is a function of its own, since what its closure
// captures is allocated where that begins.
func (s *Stream[T]) waitForRoom(ctx context.Context) (err error) {
	standby.By(ctx, func() {
		select {
		case s.room <- struct{}{}:
		case <-s.group.Context().Done():
			err = s.ended()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	})
	return err
}

// ended returns why the Stream has ended.
func (s *Stream[T]) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && s.refused == nil {
		return errStreamClosed
	}
	return context.Cause(s.group.Context())
}

// refuse notes for Close that a value was not taken since the Stream has ended.
func (s *Stream[T]) refuse(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.refused == nil && s.group.Context().Err() != nil {
		s.refused = err
	}
	return err
}

// finish is the first Close.
func (s *Stream[T]) finish() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	standby.By(s.ctx, s.senders.Wait)
	err := s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.refused
	}
	return err
}

// handOn takes result i, and hands on what is next, as far as it is there. The error is the
// Stream's. While the sink has a result, its place is empty and it is still the next. So no other
// task hands on one, and none ever does after a sink that does not return, or returns an error.
func (o *outlet[R]) handOn(ctx context.Context, i int, r outcome[R]) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ring[i%len(o.ring)] = r
	for at := &o.ring[o.next%len(o.ring)]; at.there; at = &o.ring[o.next%len(o.ring)] {
		r, *at = *at, outcome[R]{}
		if r.err == nil {
			r.err = o.call(ctx, r.result)
		}
		if r.err != nil {
			return r.err
		}
		o.next++
		<-o.room
	}
	return nil
}

// call calls the sink without the lock.
func (o *outlet[R]) call(ctx context.Context, r R) error {
	o.mu.Unlock()
	defer o.mu.Lock()
	return o.sink(ctx, r)
}
