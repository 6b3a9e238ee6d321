// Package cluster runs tasks of package filch on several machines, by NATS JetStream.
//
// A [Node] is a member of a cluster. [Handle] gives it a function for the tasks of a name, and [Submit] stores a
// task of that name in a stream. Nodes with free places fetch as many tasks as they have places: work stealing over
// machines.
//
//	n, err := cluster.Open(ctx) // with import _ "github.com/filch-go/filch/cluster/embedded"
//	h := cluster.Handle(n, "resize", func(ctx context.Context, p Picture) (Picture, error) { … })
//	f, err := h.Submit(ctx, picture)
//	small, err := f.Wait(ctx)
//
// # What is promised
//
// When Submit returns, the servers have stored the task. It runs at least once, whatever becomes of the nodes. It may
// run more than once: when a node is lost after the handler has done its work, when the network is cut, when a
// handler is silent for too long. The first outcome that is stored counts, and all that wait for it get that one.
// [TaskOf] gives a handler the ID of its task, the same at each attempt, so that it can recognize what it has done.
//
// [LocalFirst] gives that up for tasks that are cheap to lose: such a task runs in the pool of the node that submits
// it, as long as few enough are there. It is lost with the process, runs at most once, and has no ID.
//
// # When a task runs
//
// [Delay] and [At] keep a task at the servers until a time, and [Node.Cron] submits one again and again. [After] keeps
// it until other tasks have ended, on whatever nodes they run, and [Batch] counts the end of any number of tasks.
// [Unique] lets there be one task of a key at a time. [MapReduce] runs a handler on each chunk of an iterator, and
// combines the results. All of them are stored.
//
// # What a task costs
//
// A task costs three writes by the servers, with its outcome and its acknowledgment, and one less with [NoResult]. How
// long these take depends on how the servers write: see docs/cluster.md. One that runs by [LocalFirst] costs little
// more than a task of the pool.
//
// The states of a task, and why nothing is lost between them, are in README.md beside this package.
package cluster
