// Package filch is a work-stealing scheduler for recursive and irregular
// CPU-bound work: forks that cost a nanosecond or two, on a pool of workers
// that costs nothing at rest.
//
// A [Pool] has places for workers. Work enters it by [Pool.Do], or by the Call
// of a function; the calling goroutine takes part as a worker, and others come
// while there is something for them to do. Inside, work divides in one of three
// forms, which can be mixed:
//
//   - [Join] and [Worker.Join] run two closures. The simplest; a few tens of
//     nanoseconds and the closure's allocation.
//   - [Func] is a recursive function whose body forks calls of itself and joins
//     them: about two nanoseconds a fork, no allocation.
//   - [Chain] is the same with one fork a frame, and the caller making the call
//     itself if nobody else has: a fraction of a nanosecond.
//
// A fork is a plain store to memory that only its worker touches, until another
// worker asks for work; so there is no cutoff to tune, and small inputs are
// about as fast as in serial code. A worker that waits at a join does not run work
// that the serial program would not run at that point: it helps with what it waits
// for, or lets another goroutine have its place. Nesting is therefore as deep as the
// recursion, and a mutex may be held around a join.
//
// Functions that take a [Scope] work both from outside, on a Pool, and from
// inside, on a Worker, and share the same workers at any depth.
package filch
