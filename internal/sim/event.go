package sim

// Event is one thing that happens in a run.
type Event struct {
	Time   int64
	Kind   Kind
	Worker int32
	Other  int32  // the victim of an attempt or of a steal
	Thread uint64 // its path, which is the same in every run; see dag.Thread
	Weight int64  // of the node that began
}

// Kind is the kind of an Event.
type Kind uint8

const (
	Began     Kind = iota // a node begins
	Ended                 // a node ends
	Spawned               // a thread is spawned; it is ready
	Enabled               // the last child of a waiting thread has ended; it is ready
	Attempted             // a thief looks at a victim, or a worker at a common queue, and finds nothing
	Stole                 // it finds a thread
	Scheduled             // a worker gets a processor, the one of the worker Other
	Preempted             // a worker loses its processor
	Yielded               // a worker lets the worker Other go first, or all others: -2
	Slept                 // a worker does not look for work until it is woken
	Woken                 // the worker Other is woken
	Left                  // a worker leaves, with its machine
	Joined                // a worker joins, with its machine
	Lost                  // a thread is lost; if its parent is not, it is Spawned again
)
