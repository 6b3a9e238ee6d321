package engine

// Checks look for misuse of the workers of a pool: for one that is used on another goroutine than
// that which it was handed to, or after the call that it was handed to. The engine tells them where
// a worker begins with what gets it, and where it is used anyway for something that takes longer
// than a private fork. A pool without Checks looks at a flag in those places.
type Checks interface {
	// Begins is called when w is about to run a stolen fork, which gets it; what it returns, when
	// that is over.
	Begins(w *Worker) (ends func())
	// Uses is called when w is used. It panics if it must not be.
	Uses(w *Worker)
	// Strict reports whether each private fork and join is such a use as well, and a worker whose
	// goroutine has left it is never used again.
	Strict() bool
}

func (p *Pool) strict() bool { return p.Checks != nil && p.Checks.Strict() }

// Strict reports whether each use of w is checked.
func (w *Worker) Strict() bool { return w.checked && w.pool.Checks.Strict() }

// Public reports whether some forks are public.
func (p *Pool) Public() bool {
	for _, w := range *p.Workers.Load() {
		if w.thief.Len() > 0 {
			return true
		}
	}
	return false
}

// asked is a demand that never ends, so that each fork and join comes upon CheckUse, or is measured.
// The rest of what they do then finds no demand.
var asked = Worker{Demand: supply}

// Asked returns the worker whose demand those look at that fork on w: w itself, if not each of its
// uses is checked or measured.
func (w *Worker) Asked() *Worker {
	if w.Spans != nil || w.Strict() {
		return &asked
	}
	return w
}

// Late makes w a worker that stands for one of p where its use is over: Checks see each use.
func (w *Worker) Late(p *Pool) { w.pool, w.checked, w.Demand = p, true, Hunger }
