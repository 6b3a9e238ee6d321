package filch

import (
	"context"
	"slices"
	"sync"
)

// ResultGroup is a [Group] whose tasks have results.
type ResultGroup[T any] struct {
	group   *Group
	mu      sync.Mutex
	results []*T
}

// NewResultGroup returns a group like that of [Pool.Group], for tasks with results. It panics if ctx or p is nil.
func NewResultGroup[T any](ctx context.Context, p *Pool, opts ...GroupOption) *ResultGroup[T] {
	needs(p != nil, "NewResultGroup", "p")
	return &ResultGroup[T]{group: p.Group(ctx, opts...)}
}

// Go queues f and waits as [Group.Go] does. It panics if f is nil.
func (r *ResultGroup[T]) Go(f func(ctx context.Context) (T, error), opts ...TaskOption) {
	needs(f != nil, "ResultGroup.Go", "f")
	g := r.made("Go")
	next, _ := r.next(f)
	g.Go(next, opts...)
}

// TryGo queues f as [Group.TryGo] does, and reports whether it did. If not, the results have no element for f. It panics if f
// is nil.
func (r *ResultGroup[T]) TryGo(f func(ctx context.Context) (T, error), opts ...TaskOption) bool {
	needs(f != nil, "ResultGroup.TryGo", "f")
	g := r.made("TryGo")
	next, result := r.next(f)
	if g.TryGo(next, opts...) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.results) - 1
	for r.results[i] != result { // others may have been added behind it
		i--
	}
	r.results = slices.Delete(r.results, i, i+1)
	return false
}

// GoFrom queues f and waits as [Group.GoFrom] does. It panics if ctx or f is nil.
func (r *ResultGroup[T]) GoFrom(ctx context.Context, f func(ctx context.Context) (T, error), opts ...TaskOption) {
	needs(ctx != nil, "ResultGroup.GoFrom", "ctx")
	needs(f != nil, "ResultGroup.GoFrom", "f")
	g := r.made("GoFrom")
	next, _ := r.next(f)
	g.GoFrom(ctx, next, opts...)
}

// made returns the group of r. It panics if NewResultGroup has not made r.
func (r *ResultGroup[T]) made(op string) *Group {
	if r == nil || r.group == nil {
		isNotMade("ResultGroup."+op, "ResultGroup", "NewResultGroup")
	}
	return r.group
}

// next adds an element to the results, and returns it with f as a task that stores its result there.
func (r *ResultGroup[T]) next(f func(ctx context.Context) (T, error)) (next func(ctx context.Context) error, result *T) {
	result = new(T)
	r.mu.Lock()
	r.results = append(r.results, result)
	r.mu.Unlock()
	return func(ctx context.Context) (err error) {
		*result, err = f(ctx)
		return err
	}, result
}

// Context returns the group's context, as [Group.Context] does.
func (r *ResultGroup[T]) Context() context.Context { return r.made("Context").Context() }

// Done returns a channel that is closed when no task is unfinished, as [Group.Done] does.
func (r *ResultGroup[T]) Done() <-chan struct{} { return r.made("Done").Done() }

// Wait waits as [Group.Wait] does, and returns the results in the order of the calls of Go and GoFrom. The result of a failed
// task is the one returned with its error; that of a task that did not start or did not return is the zero value.
func (r *ResultGroup[T]) Wait() ([]T, error) { return r.all(r.made("Wait").Wait()) }

// Stop stops the group as [Group.Stop] does, and returns the same as Wait.
func (r *ResultGroup[T]) Stop() ([]T, error) { return r.all(r.made("Stop").Stop()) }

func (r *ResultGroup[T]) all(err error) ([]T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	results := make([]T, len(r.results))
	for i, v := range r.results {
		results[i] = *v
	}
	return results, err
}
