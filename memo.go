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

// Memo keeps the results of a function by key, and computes each when it is first requested. Make one with [NewMemo]. Its
// methods may be called from any goroutine.
type Memo[K comparable, V any] struct {
	pool   *Pool
	f      func(ctx context.Context, k K) (V, error)
	run    func(ctx context.Context) (V, error) // calls f; shared by all computations
	seed   maphash.Seed
	shards []memoShard[K, V] // their number is a power of two
}

// memoShard holds the keys of one hash.
type memoShard[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]memoEntry[K, V] // under mu
	_       [112]byte
}

// memoEntry is a value, or the call that computes it.
type memoEntry[K comparable, V any] struct {
	value V
	call  *memoCall[K, V] // nil if the value is there
}

// memoCall is a call of a Memo's function: a task that the first caller of Get runs at once.
type memoCall[K comparable, V any] struct {
	future Future[V]
	about  computation
	shard  *memoShard[K, V]
	key    K
	late   bool // another call computes the key; only the caller of Get touches it
}

// computation is a memoCall as others see it. What is the call, which prints its key. It is also the parent of the call's
// context.
type computation struct {
	context.Context // of the caller of Get, without its end
	circle.Step
}

// NewMemo returns a Memo of the results of f; see [Memo.Get]. It keeps each value until [Memo.Forget], whatever their number
// and age. It does not block. It panics if p or f is nil.
func NewMemo[K comparable, V any](p *Pool, f func(ctx context.Context, k K) (V, error)) *Memo[K, V] {
	needs(p != nil, "NewMemo", "p")
	p.mustBeMade("NewMemo")
	needs(f != nil, "NewMemo", "f")
	n := 1 << bits.Len(uint(min(4*p.Workers(), 1024)-1)) // so that workers rarely meet
	m := &Memo[K, V]{pool: p, f: f, seed: maphash.MakeSeed(), shards: make([]memoShard[K, V], n)}
	m.run = m.call
	for i := range m.shards {
		m.shards[i].entries = map[K]memoEntry[K, V]{}
	}
	return m
}

// Get returns the result for k. The first caller calls the function at once, inline, on its own goroutine and worker slot.
// Other callers for k wait meanwhile, as [Future.Wait] does: inside a task of the pool they yield their slot. Later calls
// return the value without waiting, even if ctx has ended or the pool is closed.
//
// Only values are kept. An error goes to the callers that wait for it, and the next Get calls the function again; put what is
// to be kept into V. A panic in the function is such an error, a [*PanicError]. runtime.Goexit is [ErrGoexit], and also ends
// the goroutine that called the function.
//
// The function's context has the values of the first caller's ctx, but ends only with the pool, because others may wait too.
// So a caller that computes does not stop when its ctx ends; one that waits does, and returns the cause. If ctx has ended
// before, or the pool is closed to the caller, the function is not called.
//
// The function may call Get for other keys, with its own context. It recurses on one stack: a dynamic program 100,000 keys
// deep takes one goroutine. A key that needs itself, also by way of other keys, Memos or goroutines, gets an error that wraps
// [ErrInside] and names the keys; if several goroutines wait for one another, one of them gets it. Contexts show which key
// needs which: with another context, a function waits for itself for ever. Circles through tasks of [Submit] are found as by
// [Future.Wait], with the names of tasks; those through tasks of a [Group] are not. A goroutine that needs the function's own
// key, and that the function does not wait for, must use another context.
//
// A computation counts as an unnamed task that runs inline, exempt from task limits and pauses. A kept value costs a lock and
// a map lookup. A computation allocates its task, plus the map entry, and once more to shield it from the end of ctx; not so
// if ctx has no end, in a task of [Pool.Go] submitted with such a ctx, and in the function itself. Keys not equal to
// themselves are computed each time. Get panics if ctx is nil or k cannot be compared.
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

// Forget drops the value for k, so that the next Get computes it again. Callers that wait for k get the result of the
// computation in progress, which is not kept. Forget does not block. It panics if k cannot be compared.
func (m *Memo[K, V]) Forget(k K) {
	s := m.shard("Memo.Forget", k)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, k)
}

// shard returns the shard of k, for a call of op.
func (m *Memo[K, V]) shard(op string, k K) *memoShard[K, V] {
	if m == nil || len(m.shards) == 0 {
		isNotMade(op, "Memo", "NewMemo")
	}
	return &m.shards[maphash.Comparable(m.seed, k)&uint64(len(m.shards)-1)]
}

// get is Get for a key without a value, or without one a moment ago.
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
			return c.future.Wait(context.Background()) // it is done
		}
	}
}

// withoutEnd returns ctx, which belongs to t if to any task, without its end.
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

// call is the function of the computation that ctx belongs to. The task has begun by now, so those that find it by its key
// wait for it and do not run it inline.
func (m *Memo[K, V]) call(ctx context.Context) (value V, err error) {
	c := computationOf(ctx.(*task.Context)).What.(*memoCall[K, V])
	if c.late = !c.begin(); c.late {
		return value, nil
	}
	err = errNotReturned
	defer func() { c.end(value, err == nil) }() // before it wakes the waiters
	return m.f(ctx, c.key)
}

var errNotReturned = errors.New("filch: the function did not return")

// begin records c as the call that computes its key. It returns false if there is a value, or another call.
func (c *memoCall[K, V]) begin() bool {
	s := c.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[c.key]; ok {
		return false
	}
	if c.key == c.key { // otherwise it would never be found
		s.entries[c.key] = memoEntry[K, V]{call: c}
	}
	return true
}

// end keeps the value if keep is set and the key was not forgotten.
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

// wait waits for c on behalf of the computation by, if that is not nil.
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
