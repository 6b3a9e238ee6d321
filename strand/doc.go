// Package strand is fork-join by continuation stealing: a spawn runs the child at once, and thieves take the rest of
// the caller. On one worker a program therefore runs in the order of the serial program, in which each spawn is a plain
// call, and a loop that spawns a million children never has more than one of them open.
//
// [filch.Func] and [filch.Worker.Join] steal children instead: a fork waits, and the caller goes on. They cost less,
// and suit recursion whose forks all become calls soon. Use strands where serial order matters, as for a log or a list
// in a Reducer; where a loop makes more children than there is room for; and where a function deep in the recursion
// waits without holding its worker.
//
// # Use
//
//	func walk(s *strand.Strand, n *node) {
//		for _, child := range n.children {
//			s.Spawn(func(s *strand.Strand) { walk(s, child) })
//		}
//		s.Sync() // there is one at the end of each strand, too
//	}
//
//	strand.Run(pool, func(s *strand.Strand) { walk(s, root) })
//
// [SpawnValue] and [SpawnCall] spawn functions with a result. A Strand is a [filch.Scope]: par.For(s, …) and Call of a
// Func run in it. To start a run inside a task, pass filch.ScopeOf(ctx) as its scope; inside a body of par.ForScope,
// pass the body's Scope.
//
// A spawned function returns no error. Append errors to a [Reducer], which keeps them in serial order. To stop spawning
// after the first error, cancel the context of [RunContext].
//
//	errs := strand.NewAppend[error]()
//	strand.Run(pool, func(s *strand.Strand) {
//		s.Spawn(func(s *strand.Strand) {
//			if err := visit(name); err != nil {
//				v := errs.View(s)
//				*v = append(*v, err)
//			}
//		})
//	})
//	err := errors.Join(errs.Value()...)
//
// # Lazy and real spawns
//
// By default a spawn is lazy: a plain call of the child on the same stack, unless another worker asks for work or has
// not been offered any for some microseconds. With [Eager] each spawn is real. The meaning is the same.
//
// While a lazy spawn runs, its caller's continuation cannot be stolen; it becomes available when the child spawns or
// returns. It stays hidden for as long as the child's longest stretch without a Spawn, at most the child's whole run
// time, because once a worker has asked, the next spawn is real. Exception: while the spawns of a worker come less than
// a microsecond apart, it checks only every eighth, and makes spawns real only near the root: one level deeper for each
// spawn that its running time has paid for, until no worker asks.
//
// After a child that takes more than 4 us, the next spawns are real before any worker asks. A loop of leaves of one
// second, however deep, therefore takes at most 10 s more than its share on up to 64 workers. After fine spawns in the
// same run, up to 64 such leaves by halving took up to 15 s more, on 2 to 8 workers. With [Eager] leaves take their
// share, whatever was spawned before.
//
// Keep the default unless children block: a hidden continuation stays hidden while the child waits, even in
// [Strand.Blocking]. When a loop spawns ten children that sleep in Blocking, one worker runs them one after another if
// they are lazy, and all at the same time with Eager.
//
// # Cost
//
// On one worker of an Intel Xeon, a lazy spawn with its Sync takes about 12 ns more than a call, plus the allocation of
// the closure and of its captured variables, 19 ns each. [SpawnCall] needs neither. A real spawn takes two coroutine
// switches: about 170 ns, or 145 ns by SpawnCall. A run takes one or two microseconds.
//
// The pool keeps the goroutines of a run for the next one, at most 32 for each worker. They end when the pool has had
// no run for 10 ms, or for the time of [filch.WithIdleTimeout] if that is longer, and when it is closed. A run in a
// testing/synctest bubble ends its own; make the pool in the bubble, too, because a worker from outside must not
// continue a strand of the bubble.
//
// # Rules
//
// A Strand belongs to the function that receives it and to that function's plain calls, such as f(s, n-2). A Sync in
// such a call waits for all children of the Strand, including the caller's, and panics for them; the return of the call
// waits for none. To have a function wait for only its own children, spawn it: a mergesort that spawns only the left
// half has half the parallelism of one that spawns both, because the merge of the right half waits for the left half.
//
// A child must not wait for anything that its caller does after the Spawn, such as a send to a channel: on one worker,
// and wherever the spawn is a plain call, that happens after the child.
//
// After a Spawn or a Sync a function may be on another thread. It must not be locked to its thread by
// runtime.LockOSThread across them, which ends the program. The caller of [Run] may be locked.
//
// A function that calls runtime.Goexit also ends the functions above it: at their Sync or, if the spawn was a plain
// call, at the Spawn itself. They cannot recover from it.
//
// A function may spawn and sync while it holds a lock: whatever it waits for is already running.
//
// # Reducers
//
// Views of a [Reducer] are combined in serial order, which is
//
//   - in a [Strand]: that of the serial program,
//   - for [filch.Func], [filch.Chain] and [filch.Join]: as if each fork ran at its join,
//   - in package par: that of the indices,
//   - among asyncs, and among the values of a par.Pipeline: none. Nothing is lost, but combine must be commutative.
//
// Addition of floating-point numbers is not quite associative, so the last digits of such a sum depend on which work
// was stolen.
//
// A call from outside the pool's work is an outermost call: Do, Func.Call, par.ForScope or [Run] with a [filch.Pool] or
// the Scope of a task. It adds its views to the Reducer when it returns; several do so in the order in which they end.
// Calls with a [filch.Worker] or a [Strand] belong to the call around them. A Do on a Pool inside another Do is
// outermost as well: pass on the Worker instead.
//
// An outermost call that panics or exits adds nothing. If a panic is recovered inside the call, what one worker would
// have added before it counts, and forks that the panic drops do not. After a stop, what ran counts; see
// [filch.Func.CallUntil]. If a Finish fails, part of what its asyncs have added may be lost.
//
// Continuation stealing is Cilk's: Blumofe and Leiserson, "Scheduling Multithreaded Computations by Work Stealing",
// JACM 1999; Frigo, Leiserson and Randall, "The Implementation of the Cilk-5 Multithreaded Language", PLDI 1998. Lazy
// spawns go back to Mohr, Kranz and Halstead, "Lazy Task Creation", IEEE TPDS 1991.
package strand
