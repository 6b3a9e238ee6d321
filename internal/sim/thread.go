package sim

import "github.com/filch-go/filch/internal/sim/dag"

// thread is a Thread in a run.
type thread struct {
	dag.Thread
	state   state
	pending int32 // children that have not ended
	parent  ID
	worker  int32 // the last that ran it, or that spawned it
}

// ID names a thread as long as it has not ended. Afterwards it names another.
type ID int32

// None is the ID of no thread.
const None ID = 0

type state uint8

const (
	gone    state = iota // not spawned yet, or ended
	ready                // its next node could run, and none of its nodes does
	running              // a node of it runs
	waiting              // for its children
)

func (s state) String() string {
	return [...]string{"gone", "ready", "running", "waiting"}[s]
}
