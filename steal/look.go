package steal

import "slices"

// Look is the order of one pass of a thief over its victims, which have indexes from 0 to Len()-1 around the circle
// that begins behind the thief. Only the method Look of a [Thief] calls Start and First.
type Look struct {
	workers Workers
	thief   int           // its place, as passed to Begin
	self    int           // likewise, or one after the last
	victims int           // how many there are
	turns   int           // how many of them the pass scans
	start   int           // the index where the circle begins
	first   [Glance]int32 // the indexes before the circle
	firsts  int           // how many these are
	given   int           // how many Next has returned
	around  int           // how many of the circle it has passed
}

// Workers are the thief and its victims. They have places from 0 to Len()-1, and numbers of their own, which in a pool
// are those of traces and Dump. A thief that is not among them has a negative place. [Numbered] is the simplest
// implementation.
type Workers interface {
	// Len returns how many there are.
	Len() int
	// Number returns the number of the worker at a place.
	Number(place int) int
	// Place returns the place of the worker with a number, or a negative number if there is none.
	Place(number int) int
	// Processor returns where the worker at a place last was, or a negative number; see [Located].
	Processor(place int) int
}

// Numbered returns n workers whose numbers and processors are their places.
func Numbered(n int) Workers { return numbered(n) }

type numbered int

func (n numbered) Len() int                { return int(n) }
func (n numbered) Number(place int) int    { return place }
func (n numbered) Processor(place int) int { return place }

func (n numbered) Place(number int) int {
	if number < 0 || number >= int(n) {
		return -1
	}
	return number
}

// Begin begins a pass of the worker at the place self over at most most victims. If self is negative, the thief is not
// among the workers, and all of them are victims. A pool calls it before the thief's Look; so does a test or simulator
// that has orders but no pool.
func (l *Look) Begin(workers Workers, self, most int) {
	n := workers.Len()
	l.workers, l.thief, l.self, l.victims = workers, self, self, n-1
	if self < 0 {
		l.self, l.victims = n, n
	}
	l.turns = min(most, l.victims)
	l.start, l.firsts, l.given, l.around = 0, 0, 0, 0
}

// Len returns how many victims there are.
func (l *Look) Len() int { return l.victims }

// Turns returns how many victims the pass scans: all, or the first [Glance] in the order that the thief sets.
func (l *Look) Turns() int { return l.turns }

// Self returns the number of the thief.
func (l *Look) Self() int { return l.workers.Number(l.thief) }

// Here returns where the thief last was, or a negative number; see [Located].
func (l *Look) Here() int { return l.workers.Processor(l.thief) }

// Number returns the number of the worker with the index i.
func (l *Look) Number(i int) int { return l.workers.Number(l.place(i)) }

// Find returns the index of the worker with a number, or false if it is not a victim. It may be another worker than the
// one that had the number when the thief learned it. In a pool it takes one step if the number is that of the previous
// call, and otherwise up to Len() steps.
func (l *Look) Find(number int) (i int, ok bool) {
	place := l.workers.Place(number)
	if place < 0 || place == l.self {
		return 0, false
	}
	if i = place - l.self - 1; i < 0 {
		i += l.victims + 1
	}
	return i, true
}

// Processor returns where the worker with the index i last was, or a negative number if unknown; see [Located].
func (l *Look) Processor(i int) int { return l.workers.Processor(l.place(i)) }

// Start sets the index where the circle begins to i, modulo Len().
func (l *Look) Start(i int) {
	if l.victims > 0 {
		if l.start = i % l.victims; l.start < 0 {
			l.start += l.victims
		}
	}
}

// First puts the worker with the index i before the circle, after those of earlier calls. It does nothing if there is
// no such index, if the worker was named before, or after [Glance] others.
func (l *Look) First(i int) {
	if i >= 0 && i < l.victims && l.firsts < Glance && !l.isFirst(i) {
		l.first[l.firsts] = int32(i)
		l.firsts++
	}
}

func (l *Look) isFirst(i int) bool { return slices.Contains(l.first[:l.firsts], int32(i)) }

// Next returns the place of the next victim, or false when the pass is over. None comes twice.
func (l *Look) Next() (place int, ok bool) {
	if l.given >= l.turns {
		return 0, false
	}
	l.given++
	if l.given <= l.firsts {
		return l.place(int(l.first[l.given-1])), true
	}
	for {
		i := l.start + l.around
		if i >= l.victims {
			i -= l.victims
		}
		l.around++
		if !l.isFirst(i) {
			return l.place(i), true
		}
	}
}

// place returns the place of the worker with the index i.
func (l *Look) place(i int) int {
	if i += l.self + 1; i > l.victims {
		i -= l.victims + 1
	}
	return i
}
