// Package flow runs static graphs of tasks on a [filch.Pool]: named nodes with results, edges that say which runs
// before which, conditions, loops, limits, and graphs inside graphs.
//
// # Graphs
//
// [New] makes a graph. [Node] adds a node with its deps, the nodes it comes after. [Graph.Run] runs the graph, any
// number of times, and concurrently. A node reads the results of its deps by [Of.In], with the context that it
// receives. Code outside the run reads them by [Of.Get], or by [Result] if runs of the graph overlap.
//
//   - [Choose] adds a node that chooses which node runs next. It makes branches and loops.
//   - [Sub] adds a node that runs a graph.
//   - [Of.Take] makes a node take units of a [Limit] while it runs. It waits without a worker.
//   - [Graph.WriteDOT] and [Graph.WriteSVG] draw the graph, with times and the critical path.
//   - [ByCriticalPath] lets the node with the longest path ahead run first.
//
// # In a node
//
// A node is called in a task of the pool, and ctx is that task's, so a node may do all that tasks may: [filch.ScopeOf]
// gives loops and forks the node's worker, [filch.Submit] and Wait with ctx run other tasks, and [filch.Blocking] gives
// up the worker slot while the node blocks. A node that waits in these ways keeps no other node from running, even on
// one worker. ctx ends when the run ends or fails. A task submitted with it that has not begun by then is dropped; for
// a task that is to outlive the run, use [context.WithoutCancel] of ctx.
//
// The nodes that one worker runs one after the other are one task of the pool: for [filch.Stats], observers, and
// limits. Such a task, a turn, ends after at most 100 us and the rest of the running node, so that the worker can take
// other tasks. The tasks of a run have priority 0.
//
// # Contract
//
//   - In a run, each node is called once, after its deps have returned, unless a [Choice] says otherwise or the run
//     fails. The return of a dep synchronizes before the call of the node.
//   - Nodes that no path connects may run at the same time.
//   - After the first failure, nodes that have not begun never do. A run returns when no node runs.
//   - A nil argument panics. An invalid graph is an error of [Graph.Validate] and of each run.
//
// # Cost
//
// A run allocates nothing per node, because it reuses the memory of earlier runs. The first run of a graph allocates
// that memory, and so does a run when more overlap than ever before. Apart from its function, a node costs about as
// much as three uncontended mutexes, a third of it for a clock read. A lock for each run guards the ready nodes. A
// worker that continues with a node it has made ready itself does not take it, so graphs of long chains rarely use it.
//
//figure:set 100 us
package flow
