package par

import (
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// A scan whose parts may be combined in any way goes on where it is, and has other workers look ahead. When one asks, what is left
// is cut into thirds. The worker writes the first, while the other finds the total of the second; then it writes the second, while
// the other, who knows by now what comes before, writes the third. On two workers op is called for 4/3 of the elements, in 2/3 of
// the time of a loop, which is the least there is: 2n/(p+1) calls in a row on p workers (Snir, "Depth-size trade-offs for parallel
// prefix computation", J. Algorithms 1986). By blocks, each totalled and then written, both workers call op twice for nearly all:
// 20 million int64 took 1.0 of the time of the loop.

// lookahead is such a scan.
type lookahead[T any] struct {
	plan[T]
	some  int         // how many blocks are written at a time
	each  int64       // what an element costs, ps; 0 if next to nothing
	ended atomic.Bool // op does not return in some part; whoever runs that stores, once
}

// ahead is a part of it, from one block to another.
type ahead[T any] struct {
	p           *lookahead[T]
	first, last int
	before      T    // of a part to be written
	any         bool // there is something before
	sum         bool // only the total is wanted

	own          atomic.Bool  // what vain is, for a total that another is no part of
	vain         *atomic.Bool // nobody wants the total any more; whoever has asked for it stores, once
	begun, known atomic.Bool  // the search for the total has begun, and has ended; whoever makes it stores, once each
}

type aheadFrame[T any] = filch.Frame[*ahead[T], T]

// runAhead writes the blocks from done on.
func (p *plan[T]) runAhead(s filch.Scope, done int, before T, any bool, c config) {
	l := &lookahead[T]{plan: *p, some: 1} // p is on the stack of who scans little
	filch.NewFunc(func(f *aheadFrame[T], part *ahead[T]) (v T) {
		over := false
		defer func() {
			if !over { // op has panicked, or called runtime.Goexit
				l.ended.Store(true)
			}
		}()
		switch {
		case part.sum:
			part.begun.Store(true)
			v = part.total(f)
			part.known.Store(!part.vain.Load())
		case part.first == done && isWatched(f.Worker()):
			l.run(f.Worker(), done, part.before, l.op, c)
		default:
			if part.first == done {
				part.begin(costOf(l.op, asIs))
			}
			v = part.write(f, part.last)
		}
		over = true
		return v
	}).Call(s, &ahead[T]{p: l, first: done, last: l.blocks(), before: before, any: any})
}

// total returns the total of the part, unless it is in vain, with the other workers that ask.
func (a *ahead[T]) total(f *aheadFrame[T]) T {
	block := func() T {
		lo, hi := a.p.bounds(a.first)
		a.first++
		return a.p.total(lo, hi)
	}
	for v := block(); ; v = a.p.op(v, block()) {
		if n := a.last - a.first; n == 0 || a.vain.Load() || a.p.ended.Load() {
			return v
		} else if n > 1 && f.Worker().Demand() {
			mid := a.last - n/2
			rest := f.Fork(&ahead[T]{p: a.p, first: mid, last: a.last, sum: true, vain: a.vain})
			a.last = mid
			v = a.p.op(v, a.total(f))
			return a.p.op(v, f.Join(rest))
		}
	}
}

// write writes the part, and returns the value of everything up to its end.
func (a *ahead[T]) write(f *aheadFrame[T], last int) T {
	for a.first < last && !a.p.ended.Load() {
		if a.isWorth(last-a.first) && f.Worker().Demand() {
			a.writeThirds(f, last)
		} else {
			a.writeSome(last)
		}
	}
	return a.before
}

// fewAhead is the least number of blocks that are worth a third of which is looked at twice.
const fewAhead = 6

// isWorth reports whether so many blocks are worth that, by their number and by what they cost.
func (a *ahead[T]) isWorth(blocks int) bool {
	return blocks >= fewAhead && int64(blocks)*int64(a.p.size) >= 2*little/max(1, a.p.each)
}

// writeSome writes some blocks of those before last.
func (a *ahead[T]) writeSome(last int) {
	n := min(a.p.some, last-a.first)
	lo, _ := a.p.bounds(a.first)
	_, hi := a.p.bounds(a.first + n - 1)
	a.before, a.any = a.p.write(lo, hi, a.before, a.any), true
	a.first += n
}

// begin writes blocks until it is known what an element costs: one, then two, four and so on, as to read the clock may cost more than a
// block.
func (a *ahead[T]) begin(c *cost) {
	first, begin := a.first, clock.Now()
	for ; a.first < a.last; a.p.some *= 2 {
		a.writeSome(a.last)
		took := clock.Now() - begin
		each := took * ns / int64(a.first-first) / int64(a.p.size)
		if took*ns > chunkTime || a.first == a.last {
			c.learn(each, took)
			a.p.each = each
			a.p.some = int(max(1, little/max(1, each*int64(a.p.size))))
			return
		}
	}
}

// writeThirds is write with another worker, if one comes, or with more.
func (a *ahead[T]) writeThirds(f *aheadFrame[T], last int) {
	third := (last - a.first) / 3
	middle := &ahead[T]{p: a.p, first: last - 2*third, last: last - third, sum: true}
	middle.vain = &middle.own
	one, two := middle.first, middle.last
	total := f.Fork(middle)
	before := a.write(f, one)
	for !a.p.inPlace && a.first < two && !middle.known.Load() && !a.p.ended.Load() {
		a.writeSome(two)
	}
	if a.p.inPlace && !middle.begun.Load() || !a.p.inPlace && !middle.known.Load() {
		middle.vain.Store(true)
		f.Join(total)
		return
	}
	end := f.Fork(&ahead[T]{p: a.p, first: two, last: last, before: a.p.op(before, f.Join(total)), any: true})
	a.write(f, two)
	a.before, a.first = f.Join(end), last
}
