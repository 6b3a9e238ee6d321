package filch

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/filch-go/filch/internal/circle"
	"github.com/filch-go/filch/internal/task"
)

// Memo keeps the results of a function, by key: each is computed once, when it is first asked
// for. Make one with [NewMemo]. Its methods may be called from any goroutine.
type Memo[K comparable, V any] struct {
	pool   *Pool
	f      func(ctx context.Context, k K) (V, error)
	run    func(ctx context.Context) (V, error) // calls f; all computations share it
	seed   maphash.Seed
	shards []memoShard[K, V] // as many as a power of two
}

// memoShard has the keys of one hash.
type memoShard[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]memoEntry[K, V] // under mu
	_       [112]byte
}

// memoEntry is a value, or what computes it.
type memoEntry[K comparable, V any] struct {
	value V
	call  *memoCall[K, V] // nil if there is the value
}

// memoCall is a call of the function of a Memo: a task that the first asker runs at once.
type memoCall[K comparable, V any] struct {
	future Future[V]
	about  computation
	shard  *memoShard[K, V]
	key    K
	late   bool // another computes the key; only the asker touches it
}

// computation is what a memoCall is to others: What is the call, which prints its key. It is also the context that the call's own comes
// from.
type computation struct {
	context.Context // of the asker, but for its end
	circle.Step
}

// NewMemo returns a Memo of the results of f, which it calls as [Memo.Get] says. It keeps each value
// until [Memo.Forget]: none is dropped because there are many, or for its age. It does not block. It
// panics if p or f is nil.
func NewMemo[K comparable, V any](p *Pool, f func(ctx context.Context, k K) (V, error)) *Memo[K, V] {
	needs(p != nil, "NewMemo", "p")
	p.mustBeMade("NewMemo")
	needs(f != nil, "NewMemo", "f")
	n := 1 << bits.Len(uint(min(4*p.Workers(), 1024)-1)) // so that workers seldom meet
	m := &Memo[K, V]{pool: p, f: f, seed: maphash.MakeSeed(), shards: make([]memoShard[K, V], n)}
	m.run = m.call
	for i := range m.shards {
		m.shards[i].entries = map[K]memoEntry[K, V]{}
	}
	return m
}

// Get returns the result for k. The first to ask calls the function at once, on its own goroutine
// and within the place of its task, not by way of a queue. Others that ask for k meanwhile wait,
// as [Future.Wait] does: inside a task of the pool they give up their place. Afterwards Get
// returns the value without waiting, even if ctx has ended or the pool is closed.
//
// Only values are kept. An error of the function goes to those that wait for it, and the next
// Get calls the function again: an error may be over by then, and a kept one would have to be
// forgotten by someone. What is to be kept belongs in V. A panic in the function is such an error,
// a [*PanicError]; runtime.Goexit is [ErrGoexit], and also ends the goroutine that called the
// function.
//
// The function is called with a context that has the values of the first asker's, but ends only
// with the pool: others may wait for the result as well. So an asker that computes does not give
// up when its ctx ends. One that waits does, and returns the cause. If ctx has ended before,
// or the pool is closed to the caller, the function is not called.
//
// The function may call Get for other keys, with the context that it was given. A recursion is on
// the asker's stack: the values of a dynamic program 100,000 keys deep take one goroutine. A key
// that needs itself, directly or by way of others, of this Memo or another, and on whichever
// goroutines they are computed, gets an error that wraps [ErrInside] and names the keys; if
// several goroutines wait for one another, one of them gets it. Contexts tell which key needs which: with
// another context than its own, a function waits for itself for ever. Where tasks of [Submit] lie in
// between, the circle is found as [Future.Wait] finds circles, with the names of tasks; by way of the
// tasks of a [Group], it is not found. A goroutine that the function does not wait for, and that needs the
// function's own key, must use another one.
//
// A computation counts as a task that runs in place, and has no name. No limit of tasks and no pause applies to it.
// A value that is there costs a lock and a look into a map. A computation allocates
// once beside the map: the task; and once more if the end of ctx must be kept from it, which is
// not so for a context without an end, in a task of [Pool.Go] that was submitted with one, and in
// the function itself. Keys that are not equal to themselves are computed each time. Get panics if
// ctx is nil, or k cannot be compared.
func (m *Memo[K, V]) Get(ctx context.Context, k K) (V, error) {
	needs(ctx != nil, "Memo.Get", "ctx")
	s := m.shard("Memo.Get", k)
	s.mu.Lock()
	e, ok := s.entries[k]
	s.mu.Unlock()
	if ok && e.call == nil {
		return e.value, nil
	}
	return m.get(ctx, k, s)
}

// Forget drops the value for k, so that the next Get computes it anew. Those that wait for k get
// the result of the computation that is under way, which is not kept. Forget does not block. It
// panics if k cannot be compared.
func (m *Memo[K, V]) Forget(k K) {
	s := m.shard("Memo.Forget", k)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, k)
}

// shard returns where k is, for a call of op.
func (m *Memo[K, V]) shard(op string, k K) *memoShard[K, V] {
	if m == nil || len(m.shards) == 0 {
		isNotMade(op, "Memo", "NewMemo")
	}
	return &m.shards[maphash.Comparable(m.seed, k)&uint64(len(m.shards)-1)]
}

// get is Get for a key that is not there, or was not a moment ago.
func (m *Memo[K, V]) get(ctx context.Context, k K, s *memoShard[K, V]) (value V, err error) {
	t := task.Of(ctx)
	by := computationOf(t)
	for {
		s.mu.Lock()
		e, ok := s.entries[k]
		s.mu.Unlock()
		switch {
		case ok && e.call == nil:
			return e.value, nil
		case ok:
			return e.call.wait(ctx, by)
		}
		if err := m.pool.tasks.Admits(ctx); err != nil {
			m.pool.tasks.Outcomes.Rejected.Add(1)
			return value, err
		}
		c := &memoCall[K, V]{shard: s, key: k, future: Future[V]{futureTask[V]{f: m.run}}}
		c.about = computation{m.pool.withoutEnd(ctx, t), circle.Step{What: c}}
		if by != nil {
			c.about.By = &by.Step
		}
		if !task.RunDirect(ctx, &c.future.task, &c.about, &m.pool.tasks) {
			return value, ErrClosed
		}
		if !c.late {
			return c.future.Wait(context.Background()) // which is done
		}
	}
}

// withoutEnd returns ctx, which belongs to t if to any task, but for what ends it.
func (p *Pool) withoutEnd(ctx context.Context, t *task.Context) context.Context {
	switch own, ok := ctx.(*task.Context); {
	case t == nil && ctx.Done() == nil:
		return ctx
	case ok && computationOf(own) != nil:
		return computationOf(own).Context
	case ok && own.Pool == &p.tasks && own.EndsWithPool():
		return own.Context
	}
	return context.WithoutCancel(ctx)
}

// computationOf returns the computation that t belongs to, or nil.
func computationOf(t *task.Context) *computation {
	if t == nil {
		return nil
	}
	c, _ := t.Context.(*computation)
	return c
}

// call is the function of the computation that ctx belongs to. By now the task has begun. So those
// that find it by its key wait for it, and do not run it in place.
func (m *Memo[K, V]) call(ctx context.Context) (value V, err error) {
	c := computationOf(ctx.(*task.Context)).What.(*memoCall[K, V])
	if c.late = !c.begin(); c.late {
		return value, nil
	}
	err = errNotReturned
	defer func() { c.end(value, err == nil) }() // before it wakes those that wait
	return m.f(ctx, c.key)
}

var errNotReturned = errors.New("filch: the function did not return")

// begin makes c what computes its key, and reports false if there is a value, or another call.
func (c *memoCall[K, V]) begin() bool {
	s := c.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[c.key]; ok {
		return false
	}
	if c.key == c.key { // else it would never be found
		s.entries[c.key] = memoEntry[K, V]{call: c}
	}
	return true
}

// end keeps the value, or nothing, unless the key was forgotten.
func (c *memoCall[K, V]) end(value V, keep bool) {
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	if c.shard.entries[c.key].call != c {
		return
	}
	if keep {
		c.shard.entries[c.key] = memoEntry[K, V]{value: value}
	} else {
		delete(c.shard.entries, c.key)
	}
}

// wait waits for c in the name of the computation by, if that is not nil.
func (c *memoCall[K, V]) wait(ctx context.Context, by *computation) (value V, err error) {
	if by != nil {
		w := &circle.Wait{}
		if keys := w.Begin(&by.Step, &c.about.Step); keys != "" {
			return value, task.InOp("Memo.Get", ErrInside, ": "+keys)
		}
		defer w.End()
	}
	return c.future.Wait(ctx)
}

// String returns the key.
func (c *memoCall[K, V]) String() string { return fmt.Sprint(c.key) }
