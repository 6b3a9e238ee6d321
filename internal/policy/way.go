package policy

// Way is what a worker that is asked to give way goes by. Levels are priorities, or what
// tasks are queued by instead: the least is the most urgent.
type Way struct {
	ByPriority bool
	Idle       int   // workers that could start on something at once
	Best       int64 // level of the most urgent task in the global queue
	Elsewhere  bool  // the global queue is empty, and some worker's is not
	Level      int64 // of what the worker runs
}

// GivesWay is what to do about it.
type GivesWay int

const (
	// Never keeps the place.
	Never GivesWay = iota
	// IfMany gives it up if more tasks are as urgent as the best than workers are idle.
	IfMany
	// IfStalled gives it up if no queued task has started for long.
	IfStalled
)

// GivesWay returns whether the worker may give its place to a queued task.
func (w Way) GivesWay() GivesWay {
	switch {
	case w.ByPriority && w.Best < w.Level:
		return IfMany
	case w.ByPriority && w.Best > w.Level && !w.Elsewhere, w.Idle > 0:
		return Never
	}
	return IfStalled
}
