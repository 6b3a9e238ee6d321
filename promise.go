package filch

// Promise is a [Future] that is completed by hand: what is awaited comes from outside of the pool,
// as the answer to a message does. Make one with [NewPromise]. Its methods may be called from any
// goroutine, and do not block.
type Promise[T any] struct{ future Future[T] }

// NewPromise returns a promise that is not complete. Tasks of p give up their place while they wait for it.
// So does a task of any other pool. NewPromise allocates 96 bytes for a result of a word. It panics if p is nil.
//
// The pool does not know the promise. It neither waits for it nor completes it when it is closed. A task that
// waits for it then goes on, since its own context ends, and a task that comes after it is dropped.
// An abandoned promise keeps those that wait for it until their contexts end, and [Pool.Shutdown] as well if a task
// comes after it. What came after it and was dropped takes memory until it is complete. [Pool.Dump] says which tasks wait for a promise.
func NewPromise[T any](p *Pool) *Promise[T] {
	needs(p != nil, "NewPromise", "p")
	if !p.made() {
		isNotMade("NewPromise", "Pool", "New")
	}
	promise := &Promise[T]{}
	promise.future.ctx.init(noEnd, p)
	promise.future.ctx.state.Hold(true)
	return promise
}

// Future returns the Future that Complete completes. It is always the same. It is waited for as that of
// a task is, and tasks may come after it; see [After]. Cancel completes it with context.Canceled.
func (p *Promise[T]) Future() *Future[T] {
	if !p.made() {
		isNotMade("Promise.Future", "Promise", "NewPromise")
	}
	return &p.future
}

// Complete completes the promise with a result, as if a task had returned it, and reports true; or false if the
// promise is complete already. It synchronizes before the return from a Wait for the Future. Tasks that come after
// it are queued, or dropped if err is not nil. Nothing is run here.
func (p *Promise[T]) Complete(v T, err error) bool {
	if !p.made() {
		isNotMade("Promise.Complete", "Promise", "NewPromise")
	}
	if !p.future.ctx.state.ClaimToDrop() {
		return false
	}
	p.future.resolve(v, err)
	return true
}

// made reports whether NewPromise has made p.
func (p *Promise[T]) made() bool { return p != nil && p.future.ctx.pool != nil }
