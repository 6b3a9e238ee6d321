// Package flow runs static graphs of tasks on a [filch.Pool]: named nodes with results, edges that
// say which runs before which, conditions, loops, limits, and graphs inside of graphs.
//
// # Graphs
//
// [New] makes a graph, [Node] adds a node with the nodes it comes after, its deps. [Graph.Run] runs
// the graph, any number of times, also at the same time. A node reads the results of its deps by
// [Of.In], with the context that it is called with. Code around the run reads them by [Of.Get], or by
// [Result] if the graph runs several times at once.
//
//   - [Choose] adds a node that chooses which one runs next. It makes branches and loops.
//   - [Sub] adds a node that runs a graph.
//   - [Of.Take] makes a node take of a [Limit] while it runs. It waits without a worker.
//   - [Graph.WriteDOT] and [Graph.WriteSVG] draw the graph, with times and the critical path.
//   - [ByCriticalPath] lets what keeps the graph longest run first.
//
// # In a node
//
// A node is called in a task of the pool, and ctx is that task's. So all that tasks do works there:
// [filch.ScopeOf] gives loops and forks the node's worker, [filch.Submit] and Wait with ctx run other
// tasks, [filch.Blocking] gives the worker's place away while the node blocks. A node that waits in
// these ways keeps no other node from running, on one worker either. ctx ends when the run
// does, or fails. A task that is submitted with it and has not begun by then is dropped: what is to
// outlive the run gets [context.WithoutCancel] of ctx.
//
// The nodes of a run that one worker runs one after the other are one task for the pool: for
// [filch.Stats], observers, and limits. Such a task, a turn, ends after 100 us at the latest, or with the
// node that runs by then, so that the worker can take other tasks. The tasks of a run have the priority 0.
//
// # Contract
//
//   - In a run each node is called once, when its deps have returned, unless a [Choice] says otherwise
//     or the run fails. The return of a dep synchronizes before the call of the node.
//   - Functions of nodes that no path connects may be called at the same time.
//   - After the first failure, nodes that have not begun never do. A run returns when no node runs.
//   - A nil argument panics; a graph that makes no sense is an error of [Graph.Validate] and of each
//     run.
//
// # Cost
//
// A run allocates nothing for a node: what it keeps of nodes is used again by later runs. The first
// run of a graph, and more runs at once than ever before, make that anew. Besides what its function
// does, a node costs about as much as three uncontended mutexes, one of which is a look at the clock. A
// lock for each run guards the nodes that are ready. A worker goes on with a node that it has made
// ready itself without that lock, so graphs of long chains rarely touch it.
//
//figure:set 100 us
package flow
