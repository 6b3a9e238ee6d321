// Package strand is fork-join by continuation stealing: a spawn runs the child at once, and what other
// workers may take is the rest of the caller. So on one worker a program runs in the order of the serial
// program that it becomes when each spawn is a plain call, and a loop that spawns a million
// children never has more than one of them open.
//
// [filch.Func] and [filch.Worker.Join] steal children: a fork waits, and the caller goes on. They cost less, and suit
// recursion whose forks all become calls soon. Take strands where the order of the serial program
// matters, such as for a log or a list by a Reducer; where a loop makes more children than there is room for; and
// where a function deep in the recursion is to wait without holding its worker.
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
// [SpawnValue] and [SpawnCall] spawn functions with a result. A Strand is a [filch.Scope]: par.For(s, …) and
// Call of a Func run in it. In a task, the scope of a run is filch.ScopeOf(ctx); in a body of par.ForScope, the Scope that the
// body gets.
//
// A spawned function returns no error. Append errors to a [Reducer], which has them in the order of the serial program.
// To spawn no more after the first, cancel the context of [RunContext].
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
// # Two ways to spawn
//
// By default, a spawn is lazy: a plain call of the child on the same stack, unless another worker asks for work or has
// not been offered any for some microseconds. With [Eager] each spawn is real. The meaning is the same.
//
// What a plain call hides is the rest of its caller: other workers can have it when the child spawns or
// returns, not before. So it stays hidden for as long as the longest stretch of a child without a Spawn. That
// is at most one child's whole time: once a worker has asked, the next spawn is real. It is otherwise while the spawns
// of a worker come less than a microsecond apart. Then it looks at each eighth only, and spawns really near the root alone:
// one level deeper for each spawn that its time has paid for, until nobody asks.
//
// After a child that takes more than 4 us, the next spawns are real before anybody asks. So a loop of leaves of one second,
// on up to 64 workers, takes at most 10 s more than its share, however deep it is. Fine spawns just before, in the same run,
// can cost more: up to 64 leaves of a second by halving, on 2 to 8 workers, took up to 15 s more than their share. With [Eager]
// leaves take their share, whatever was spawned before.
//
// So leave it at lazy, unless children block: what a plain call hides stays hidden while the child waits, in
// [Strand.Blocking] too. In a loop that spawns ten children, which sleep in Blocking, one worker lets them sleep
// one after another if they are lazy, and all at the same time with Eager.
//
// # Cost
//
// On one worker of an Intel Xeon, a lazy spawn with its Sync takes about 12 ns more than a call, and what the closure and
// its captured variables cost to allocate: 19 ns each. [SpawnCall] needs neither. A real spawn takes
// about 170 ns, two switches of coroutines, or 145 by SpawnCall. A run takes one or two microseconds.
//
// The goroutines of a run are kept for the next in the same pool, 32 at most for each of its workers. They end when the pool has had no run
// for 10 ms, or for the time of [filch.WithIdleTimeout] if that is longer, and when it is closed. A run in a bubble of testing/synctest ends its own;
// make the pool there, too, since a worker from outside must not continue a strand of the bubble.
//
// # Rules
//
// A Strand is for the function that gets it, and for what that calls plainly, such as f(s, n-2). A Sync in such a call
// waits for all that the Strand has spawned, in the caller too, and panics for it; when the call returns, there is no Sync. Spawn
// what is to wait for its own children alone. A mergesort that spawns the left half, sorts the right one by a plain call and
// then merges has half the parallelism of one that spawns both: the merge of the right half waits for the left half.
//
// A child must not wait for what its caller does after the Spawn, such as a send to a channel: on one worker, and wherever the
// spawn is a plain call, that comes after the child. After a Spawn or a Sync, a function may be on another
// thread: it must not be locked to one by runtime.LockOSThread across them, which ends the program. The
// caller of [Run] may be. A function that calls runtime.Goexit ends those above it as well: at their Sync, or, if the spawn was
// a plain call, at the Spawn itself. They cannot recover from that. A function that a lock
// protects may spawn and sync: what it waits for is under way.
//
// Continuation stealing is that of Cilk: Blumofe and Leiserson, "Scheduling Multithreaded Computations by Work
// Stealing", JACM 1999; Frigo, Leiserson and Randall, "The Implementation of the Cilk-5 Multithreaded Language",
// PLDI 1998. Lazy spawns go back to Mohr, Kranz and Halstead, "Lazy Task Creation", IEEE TPDS 1991.
package strand
