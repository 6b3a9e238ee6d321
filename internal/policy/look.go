package policy

// Where is a place to look for work.
type Where uint8

const (
	// HandedOn is the forks that a thief has stolen and must not run.
	HandedOn Where = iota
	// Source is what there is beside forks: tasks.
	Source
	// Forks is the deques of other workers.
	Forks

	// Own is a worker's own queue of tasks.
	Own
	// Global is the queue of tasks from outside.
	Global
	// Others is the queues of other workers.
	Others
)

// Look is the order in which a worker looks for work.
var Look = [...]Where{HandedOn, Source, Forks}

// LookForTasks is the order in which a worker looks for tasks: local, global, steal.
var LookForTasks = [...]Where{Own, Global, Others}

// LookByPriority is the same in a pool by priority. There the tasks of others come before the
// global ones, unless those are more urgent.
var LookByPriority = [...]Where{Own, Others, Global}
