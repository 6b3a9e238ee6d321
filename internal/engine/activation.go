package engine

// An activation is a run of forks of one function on one worker. Forks of
// different activations never mix in age: those of a newer activation are all
// younger.
type activation interface {
	// Publish makes a job of the oldest private fork; nil if there is none.
	Publish() *Job
	// Forks returns what Drop takes to leave the forks alone that are open now.
	Forks() int
	// Drop forgets all but the first n forks: it clears private ones, and takes back
	// published ones or waits for them.
	Drop(n int)
	// Close lets go of an activation without open forks.
	Close()
}

// stack is what runs on a worker. Only its owner touches it.
type stack struct {
	activations []activation // the oldest first
	first       int          // no activation below it has private forks
}

// Newest returns the newest activation, or nil if there is none.
func (s *stack) Newest() activation {
	if n := len(s.activations); n > 0 {
		return s.activations[n-1]
	}
	return nil
}

func (s *stack) Push(a activation) { s.activations = append(s.activations, a) }

func (s *stack) Pop() {
	n := len(s.activations) - 1
	s.activations[n] = nil
	s.activations = s.activations[:n]
	s.first = max(0, min(s.first, n-1))
}

// Above returns the oldest activation above m, or nil.
func (s *stack) Above(m Checkpoint) activation {
	if len(s.activations) > m.acts {
		return s.activations[m.acts]
	}
	return nil
}
