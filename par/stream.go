package par

import (
	"context"
	"errors"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/standby"
)

// Stream is a [Pipeline] into which values are pushed, by Send, as bytes are by the Write of an io.Writer. Make one
// with [NewStream].
type Stream[T any] struct {
	ctx   context.Context
	group *filch.Group // the tasks, one per value; its context ends with the first error
	run   func(ctx context.Context, i int, v T) error
	room  chan struct{} // has an entry for each value in flight
	close func() error

	mu      sync.Mutex
	sent    int            // under mu; the index of the next value
	closed  bool           // under mu; no more values are accepted
	refused error          // under mu; why the first rejected value was rejected
	senders sync.WaitGroup // about to submit a task; added under mu, while closed is not set
}

// outlet passes the results of a Stream to its sink.
type outlet[R any] struct {
	sink func(ctx context.Context, r R) error
	room <-chan struct{}

	mu   sync.Mutex
	ring []outcome[R] // under mu; result i is at i modulo the length until it is passed on
	next int          // under mu; the index of the next result to pass on
}

// outcome is what f returned for a value.
type outcome[R any] struct {
	there  bool
	result R
	err    error
}

// NewStream returns a Stream that calls f for each value sent, in a task of p, so for up to as many values at a time as
// p has workers. sink receives the results one at a time, in the order of Send, each as soon as all before it are
// through. Use it to compress blocks for a file, or to call back with results in the order of submission.
// If a stage must see the values in order, let the sink send to another Stream.
//
// With [InFlight](n), at most n values are in flight: sent, and not yet through sink. The default is four for each
// worker. Send blocks at the limit.
//
// The first error of f or sink, in the order of the values, ends the Stream. sink has been called for all values before
// it and none after; f may have been called for later ones. A panic or runtime.Goexit in either counts as an error, a
// [*filch.PanicError] or [filch.ErrGoexit], but ends the Stream at once, as does the end of ctx or of p. No further
// call of f begins then, and sink has been called for a gapless prefix of the values, but perhaps not for all before
// the failure.
//
// f and sink receive the context of their task, which also ends with the Stream. The task that brings the next result
// calls sink; if sink blocks, let it do so in [filch.Blocking]. Neither may send to its own Stream or close it.
//
// A value costs a task of a [filch.Group], one allocation, or three if Send waits, and two uncontended locks, which
// pays if f takes more than some microseconds. NewStream does not block. It panics if an argument is nil.
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

// Send accepts v, waiting for room if there is none. It returns nil if v was accepted, and otherwise the error that has
// ended the Stream, as will every later Send and Close. After Close it returns an error. Any goroutine may call Send;
// values are ordered as the calls find room.
//
// If the Stream was made in a task, Send gives up the worker slot of that task while it waits. In another task, use
// SendFrom.
func (s *Stream[T]) Send(v T) error { return s.send(s.ctx, v) }

// SendFrom is [Stream.Send] for the task, if any, that ctx comes from: while it waits, it gives up that task's worker
// slot. If ctx ends first, it returns the cause, and does not accept v. That ends the Stream only if it was made with
// ctx, or if the call was waiting for a limit of the pool with v already placed in the order. It panics if ctx is nil.
func (s *Stream[T]) SendFrom(ctx context.Context, v T) error {
	if ctx == nil {
		panic("par: Stream.SendFrom: ctx is nil")
	}
	return s.send(ctx, v)
}

// Close waits until all values are through, and returns the first error, as described at [NewStream]. A Stream that is
// not closed retains what its context retains until the context ends. Later calls return the same. If the Stream was
// made in a task, call Close there, or inside [filch.Blocking]: it gives up that task's worker slot while it waits, and
// runs some of the tasks.
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

// takeRoom waits for room for a value, and takes it.
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

// waitForRoom is takeRoom's slow path. It is a separate function because variables that its closure captures are
// allocated where they are declared.
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

// refuse records for Close that a value was rejected because the Stream has ended.
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

// handOn stores result i, and passes on results in order as far as they exist. Its error is the Stream's. While the
// sink has a result, that result's entry is empty and its index still next. So no other task passes one on meanwhile,
// and none ever does after a sink that fails or does not return.
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
