package queue

// A stamp says that what lies before its end was pushed by a certain time. So a push
// reads no clock; what asks for how long values lie there leaves a stamp now and then.
type stamp struct {
	end int // position; see chunk
	by  int64
}

// fine is how close together stamps are at most, in the unit of time, which is meant to be
// a nanosecond. One that comes sooner only moves the end of the one before.
const fine = 1_000_000

// Stamp notes that the values that have no stamp yet were pushed by now. Time must not go
// backwards.
func (d *Deque[T]) Stamp(now int64) {
	d.prune()
	if d.n == 0 {
		return
	}
	end := d.back.base + d.back.hi
	if end > d.stamped {
		d.stampTo(end, now)
	}
}

// stampTo adds a stamp.
func (d *Deque[T]) stampTo(end int, by int64) {
	if n := len(d.stamps); n > 0 && by-d.stamps[n-1].by < fine {
		d.stamps[n-1].end = end
	} else {
		d.stamps = append(d.stamps, stamp{end, by})
	}
	d.stamped = end
}

// Oldest returns the time by which the value at the front was pushed. It reports false if
// there is none, or no stamp was left since then.
func (d *Deque[T]) Oldest() (by int64, ok bool) {
	if d.prune(); len(d.stamps) == 0 {
		return 0, false
	}
	return d.stamps[0].by, true
}

// prune forgets the stamps of what was popped from the front.
func (d *Deque[T]) prune() {
	for len(d.stamps) > 0 && (d.n == 0 || d.stamps[0].end <= d.front.base+d.front.lo) {
		d.stamps = d.stamps[1:]
	}
	if len(d.stamps) == 0 {
		d.stamps, d.stamped = nil, 0
	}
}

// unstamp is called when values were popped from the back that had a stamp: what
// is pushed from end on has none.
func (d *Deque[T]) unstamp(end int) {
	n := len(d.stamps)
	for n > 1 && d.stamps[n-2].end >= end {
		n--
	}
	d.stamps = d.stamps[:n]
	d.stamps[n-1].end, d.stamped = end, end
}

// MoveFront moves n values from the front to the back of to, with their stamps. There must
// be as many. What is in to should be older, or nothing; else stamps are too late.
func (d *Deque[T]) MoveFront(n int, to *Deque[T]) {
	to.prune()
	for range n {
		by, ok := d.Oldest()
		v, _ := d.PopFront()
		if to.PushBack(v); ok {
			to.stampTo(to.back.base+to.back.hi, by)
		}
	}
}

// moveStamps is the part of MoveChunk that is about stamps: c was at the front of d, from
// position base on, and now is at the back of to.
func (d *Deque[T]) moveStamps(c *chunk[T], base int, to *Deque[T]) {
	for _, s := range d.stamps {
		if s.end > base+c.lo {
			to.stampTo(c.base+min(s.end-base, c.hi), s.by)
		}
		if s.end >= base+c.hi {
			return
		}
	}
}

// Walk calls f for about n of the values from a position on, each with the time by which
// it was pushed, or unstamped if it has no stamp. It returns from where to go on, and whether
// there are more. In between, values may be pushed and popped. It begins at 0, and takes
// as many steps more as there are chunks before the position.
func (d *Deque[T]) Walk(from, n int, unstamped int64, f func(v T, by int64)) (next int, more bool) {
	d.prune()
	stamps := d.stamps
	for c := d.front; c != nil; c = c.next {
		for i := max(c.lo, from-c.base); i < c.hi; i++ {
			for len(stamps) > 0 && stamps[0].end <= c.base+i {
				stamps = stamps[1:]
			}
			by := unstamped
			if len(stamps) > 0 {
				by = stamps[0].by
			}
			f(c.v[i], by)
			n--
		}
		if from = max(from, c.base+c.hi); n <= 0 {
			return from, c.next != nil
		}
	}
	return from, false
}
