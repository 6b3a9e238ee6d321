package filch

import (
	"context"
	"sync"
)

// ResultGroup is a [Group] whose tasks have results.
type ResultGroup[T any] struct {
	group   *Group
	mu      sync.Mutex
	results []*T
}

// NewResultGroup returns a group like that of [Pool.Group], for tasks with
// results. It panics if ctx or p is nil.
func NewResultGroup[T any](ctx context.Context, p *Pool, opts ...GroupOption) *ResultGroup[T] {
	needs(p != nil, "NewResultGroup", "p")
	return &ResultGroup[T]{group: p.Group(ctx, opts...)}
}

// Go queues f, as [Group.Go] does, and waits when that does. It panics if f is nil.
func (r *ResultGroup[T]) Go(f func(ctx context.Context) (T, error), opts ...TaskOption) {
	needs(f != nil, "ResultGroup.Go", "f")
	r.group.Go(r.next(f), opts...)
}

// GoFrom queues f where ctx says, as [Group.GoFrom] does, and waits when that does. It
// panics if ctx or f is nil.
func (r *ResultGroup[T]) GoFrom(ctx context.Context, f func(ctx context.Context) (T, error), opts ...TaskOption) {
	needs(ctx != nil, "ResultGroup.GoFrom", "ctx")
	needs(f != nil, "ResultGroup.GoFrom", "f")
	r.group.GoFrom(ctx, r.next(f), opts...)
}

// next returns f as a task that keeps its result behind those of the tasks before.
func (r *ResultGroup[T]) next(f func(ctx context.Context) (T, error)) func(ctx context.Context) error {
	result := new(T)
	r.mu.Lock()
	r.results = append(r.results, result)
	r.mu.Unlock()
	return func(ctx context.Context) (err error) {
		*result, err = f(ctx)
		return err
	}
}

// Context returns the group's context, as [Group.Context] does.
func (r *ResultGroup[T]) Context() context.Context { return r.group.Context() }

// Wait waits as [Group.Wait] does, and returns the results in the order of the calls of
// Go and GoFrom. For a task that failed, that is the result it returned with its error; for
// one that did not start or did not return, the zero value.
func (r *ResultGroup[T]) Wait() ([]T, error) { return r.all(r.group.Wait()) }

// Stop stops the group as [Group.Stop] does, and returns what Wait does.
func (r *ResultGroup[T]) Stop() ([]T, error) { return r.all(r.group.Stop()) }

func (r *ResultGroup[T]) all(err error) ([]T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	results := make([]T, len(r.results))
	for i, v := range r.results {
		results[i] = *v
	}
	return results, err
}
