// Package circle finds computations that need themselves, by way of others. A computation needs those that it has asked for, which either
// run on top of it, or are waited for. The first are known by whom they were asked for, the others from the waits that are noted.
// A wait that would close a circle is not made. All waits are noted under one lock, together with
// the look for a circle. So of those that close one, the last finds it. That needs no stacks,
// however deep the recursion is, and other than the waits of tasks it takes a context for the
// proof that one waits for the other.
package circle

import (
	"fmt"
	"slices"
	"sync"

	"github.com/filch-go/filch/internal/line"
)

// A Step is a computation.
type Step struct {
	By   *Step        // the one whose function asked, or nil
	What fmt.Stringer // prints what is computed
}

// A Wait is one of a computation for another that runs elsewhere.
type Wait struct{ turn line.Turn[pair] }

type pair struct{ by, on *Step }

// waits are all that block now, or are about to.
var waits struct {
	mu   sync.Mutex
	line line.Line[pair]
}

// Begin notes that by waits for on, until End. If the wait would close a circle, it notes nothing, and returns what needs what:
// "a needs b needs a".
func (w *Wait) Begin(by, on *Step) (text string) {
	waits.mu.Lock()
	defer waits.mu.Unlock()
	steps := way(on, by, map[*Step]bool{})
	if steps == nil {
		w.turn.Of = pair{by, on}
		waits.line.Add(&w.turn)
		return ""
	}
	for _, s := range steps {
		text += s.What.String() + " needs "
	}
	return text + steps[0].What.String()
}

// End ends a wait that closes no circle.
func (w *Wait) End() {
	waits.mu.Lock()
	defer waits.mu.Unlock()
	waits.line.Remove(&w.turn)
}

// way returns computations of which each needs the next, the first and the last of which are given,
// or nil. Those that it has seen lead nowhere.
func way(from, to *Step, seen map[*Step]bool) []*Step {
	if to.isAbove(from) {
		return to.below(from)
	}
	seen[from] = true
	for w := range waits.line.All() {
		if w.by.isAbove(from) && !seen[w.on] {
			if rest := way(w.on, to, seen); rest != nil {
				return append(w.by.below(from), rest...)
			}
		}
	}
	return nil
}

// isAbove reports whether s runs on top of other, or is it.
func (s *Step) isAbove(other *Step) bool {
	for ; s != nil; s = s.By {
		if s == other {
			return true
		}
	}
	return false
}

// below returns the computations from other, which is below s, up to s.
func (s *Step) below(other *Step) []*Step {
	way := []*Step{s}
	for ; s != other; s = s.By {
		way = append(way, s.By)
	}
	slices.Reverse(way)
	return way
}
