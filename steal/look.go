package steal

import "slices"

// Look is the order of one look of a thief at its victims. They have indexes from 0 to Len()-1, which go around from the one
// behind the thief. Only the method Look of a [Thief] calls Start and First.
type Look struct {
	workers Workers
	thief   int           // its place, as Begin was told
	self    int           // likewise, or one behind the last
	victims int           // how many others there are
	turns   int           // how many of them are looked at
	start   int           // the index that the circle begins with
	first   [Glance]int32 // the indexes of those before it
	firsts  int           // how many these are
	given   int           // how many Next has given
	around  int           // how many of the circle it has passed
}

// Workers are those among whom a thief chooses: in places, from 0 to Len()-1, and with numbers of their own, which in a pool are
// those of traces and Dump. A thief that is not among them has a negative place. [Numbered] is the simplest.
type Workers interface {
	// Len returns how many there are.
	Len() int
	// Number returns the number of the worker at a place.
	Number(place int) int
	// Place returns the place of the worker with a number, or a negative number if it is not there.
	Place(number int) int
	// Processor returns where the worker at a place last was, or a negative number; see [Located].
	Processor(place int) int
}

// Numbered returns n workers whose numbers are their places. Each has the processor of its number.
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

// Begin begins a look of the worker at the place self at no more than most others. If self is negative, the
// thief is not among them, and looks at all. It is what a pool calls before it calls the thief, and a test or a
// simulator that has orders, but no pool.
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

// Turns returns how many of them are looked at: all, or the first [Glance] in the order that the thief gives.
func (l *Look) Turns() int { return l.turns }

// Self returns the number of the thief.
func (l *Look) Self() int { return l.workers.Number(l.thief) }

// Here returns where the thief last was, or a negative number; see [Located].
func (l *Look) Here() int { return l.workers.Processor(l.thief) }

// Number returns the number of the worker with the index i.
func (l *Look) Number(i int) int { return l.workers.Number(l.place(i)) }

// Find returns the index of the worker with a number, or false if it is none of the victims. It need not be the worker that had the number when
// the thief came to know it. In a pool it takes a step if the number is that of the call before, and up to Len() steps if not.
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

// Processor returns where the worker with the index i last was, or a negative number if it has not said so; see [Located].
func (l *Look) Processor(i int) int { return l.workers.Processor(l.place(i)) }

// Start has the circle begin with the index i, modulo Len().
func (l *Look) Start(i int) {
	if l.victims > 0 {
		if l.start = i % l.victims; l.start < 0 {
			l.start += l.victims
		}
	}
}

// First has the worker with the index i come before the circle, and after those of earlier calls. It does nothing if there is
// no such index, if it was given before, or after [Glance] others.
func (l *Look) First(i int) {
	if i >= 0 && i < l.victims && l.firsts < Glance && !l.isFirst(i) {
		l.first[l.firsts] = int32(i)
		l.firsts++
	}
}

func (l *Look) isFirst(i int) bool { return slices.Contains(l.first[:l.firsts], int32(i)) }

// Next returns the place of the next victim, or false when the look is over. None comes twice.
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
