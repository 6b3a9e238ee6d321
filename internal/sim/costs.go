package sim

// Costs is what a pool does between the nodes, in nanoseconds. The scheduler pool counts it. All of it is idle
// time in a Result. What a look at another worker takes is Config.StealCost.
type Costs struct {
	Publish int64 `json:"publish"` // of a fork, by its owner
	Waking  int64 `json:"waking"`  // of a worker, by the one that wakes it
	Wake    int64 `json:"wake"`    // from then on, until that worker looks for work
	Steal   int64 `json:"steal"`   // from when a thief has found a fork, until it runs it
	// Free says that searching is not held back, whatever it costs.
	Free bool `json:"free,omitempty"`
}

func (c *Costs) negative() bool { return min(c.Publish, c.Waking, c.Wake, c.Steal) < 0 }
