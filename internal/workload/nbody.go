package workload

import (
	"fmt"
	"math"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// nbody works out with what each of n bodies is drawn by all others, by a tree of places
// (Barnes and Hut, Nature, 1986): a place far away counts as one body.
//
// The tree is a Func, which halves the bodies. The bodies then are a loop of package par: some
// look at more places than others. All forms add in the same order, so that results are equal to
// the last bit.
var nbody = &Workload{
	Name:    "nbody",
	About:   "the forces between n bodies in space, by a tree (PBBS)",
	Sizes:   []string{"1000", "10000", "100000"},
	Default: []Default{{Size: "10000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("nbody", size, 1, 1<<22)
		if err != nil {
			return nil, err
		}
		var s *space
		return &Job{
			Load:   func() { s = newSpace(n) },
			Reset:  func() { s.reset() },
			Answer: func() string { return s.sum() },
			Serial: func() string {
				serialPlaces(s.whole())
				s.pull(0, len(s.bodies))
				return ""
			},
			Func: func(p filch.Scope) string {
				p.Do(func(w *filch.Worker) {
					placesFunc.Call(w, s.whole())
					par.ForRange(w, len(s.bodies), s.pull)
				})
				return ""
			},
			Closures: func(w *filch.Worker, both Both) string {
				closurePlaces(w, both, s.whole())
				byBoth(w, both)(s.chunks(), s.pullChunk)
				return ""
			},
			Goroutines: func(workers int) string {
				goPlaces(s.whole())
				byGoroutines(workers)(s.chunks(), s.pullChunk)
				return ""
			},
		}, nil
	},
}

type vector [3]float64

type body struct {
	at   vector
	mass float64
	pull vector
	id   int
}

// place is a node of the tree: some bodies that are close to each other. Places are in the
// order of the tree from above, so that all that is below a place is behind it.
type place struct {
	at     vector // the centre of mass
	mass   float64
	near   float64 // how far away it must be to count as one body, squared
	lo, hi int32   // its bodies, if nothing is below
	next   int32   // the place behind all that is below
}

// space has the bodies, and the tree.
type space struct {
	initial []body
	bodies  []body
	places  []place
}

// fewBodies is what is not divided any more.
const fewBodies = 8

// newSpace makes up bodies that are dense in the middle.
func newSpace(n int) *space {
	s := &space{initial: make([]body, n), bodies: make([]body, n), places: make([]place, placesOf(n))}
	rng := splitmix(23)
	for i := range s.initial {
		b := &s.initial[i]
		b.id = i
		b.mass = 0.5 + rng.float()
		size := rng.float()
		for d := range b.at {
			b.at[d] = size * (2*rng.float() - 1)
		}
	}
	return s
}

func (s *space) reset() { copy(s.bodies, s.initial) }

func (s *space) sum() string {
	h := uint64(0)
	for i := range s.bodies {
		b := &s.bodies[i]
		x := uint64(b.id) * 0x9e3779b97f4a7c15
		for _, v := range b.pull {
			x = (x ^ math.Float64bits(v)) * 0xbf58476d1ce4e5b9
		}
		h += x
	}
	return fmt.Sprintf("%d bodies, %d places, sum of bits %016x", len(s.bodies), len(s.places), h)
}

// placesOf returns the number of places of n bodies.
func placesOf(n int) int {
	if n <= fewBodies {
		return 1
	}
	return 1 + placesOf(n/2) + placesOf(n-n/2)
}

// region is a place to be made, of some bodies.
type region struct {
	space  *space
	at     int // of the place
	lo, hi int
}

func (s *space) whole() region { return region{s, 0, 0, len(s.bodies)} }

// halves divides the region by its longest side, so that each half has as many bodies.
func (r region) halves() (a, b region) {
	bodies := r.space.bodies[r.lo:r.hi]
	least, most := bodies[0].at, bodies[0].at
	for i := range bodies {
		for d, x := range bodies[i].at {
			least[d], most[d] = min(least[d], x), max(most[d], x)
		}
	}
	longest := 0
	for d := range 3 {
		if most[d]-least[d] > most[longest]-least[longest] {
			longest = d
		}
	}
	n := len(bodies) / 2
	selectBodies(bodies, n, longest)
	a = region{r.space, r.at + 1, r.lo, r.lo + n}
	return a, region{r.space, a.at + placesOf(n), a.hi, r.hi}
}

// selectBodies puts the n bodies first that come first in direction d, by Hoare's quickselect.
func selectBodies(bodies []body, n, d int) {
	lo, hi := 0, len(bodies)-1
	for lo < hi {
		pivot := bodies[lo+(hi-lo)/2].at[d]
		i, j := lo, hi
		for i <= j {
			for bodies[i].at[d] < pivot {
				i++
			}
			for bodies[j].at[d] > pivot {
				j--
			}
			if i <= j {
				bodies[i], bodies[j] = bodies[j], bodies[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return
		}
	}
}

// tooFew reports whether the region is not divided.
func (r region) tooFew() bool { return r.hi-r.lo <= fewBodies }

// finish makes the place, after those below.
func (r region) finish() {
	p := &r.space.places[r.at]
	*p = place{next: int32(r.at + placesOf(r.hi-r.lo))}
	if r.tooFew() {
		p.lo, p.hi = int32(r.lo), int32(r.hi)
	}
	bodies := r.space.bodies[r.lo:r.hi]
	least, most := bodies[0].at, bodies[0].at
	for i := range bodies {
		b := &bodies[i]
		p.mass += b.mass
		for d, x := range b.at {
			least[d], most[d] = min(least[d], x), max(most[d], x)
			p.at[d] += x * b.mass
		}
	}
	side := 0.0
	for d := range 3 {
		p.at[d] /= p.mass
		side = max(side, most[d]-least[d])
	}
	const theta = 0.5
	p.near = side * side / (theta * theta)
}

func serialPlaces(r region) {
	if !r.tooFew() {
		a, b := r.halves()
		serialPlaces(a)
		serialPlaces(b)
	}
	r.finish()
}

var placesFunc = filch.NewFunc(placesBody)

func placesBody(f *filch.Frame[region, struct{}], r region) struct{} {
	if !r.tooFew() {
		a, b := r.halves()
		h := f.Fork(b)
		placesBody(f, a)
		f.Join(h)
	}
	r.finish()
	return struct{}{}
}

func closurePlaces(w *filch.Worker, both Both, r region) {
	if !r.tooFew() {
		a, b := r.halves()
		both(w,
			func(w *filch.Worker) { closurePlaces(w, both, a) },
			func(w *filch.Worker) { closurePlaces(w, both, b) })
	}
	r.finish()
}

// goPlaces has goroutines for regions of a thousand bodies and more, which take 100 us.
func goPlaces(r region) {
	if r.hi-r.lo < 1000 {
		serialPlaces(r)
		return
	}
	a, b := r.halves()
	var wg sync.WaitGroup
	wg.Go(func() { goPlaces(b) })
	goPlaces(a)
	wg.Wait()
	r.finish()
}

// bodiesAtOnce are the bodies of a chunk, where loops are divided by hand.
const bodiesAtOnce = 64

func (s *space) chunks() int { return (len(s.bodies) + bodiesAtOnce - 1) / bodiesAtOnce }

func (s *space) pullChunk(i int) {
	s.pull(i*bodiesAtOnce, min((i+1)*bodiesAtOnce, len(s.bodies)))
}

// pull works out what bodies lo to hi-1 are drawn by.
func (s *space) pull(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.bodies[i].pull = s.pullAt(s.bodies[i].at)
	}
}

// soft keeps bodies that are close to each other from pulling without bounds; and a body from
// pulling itself, as that is then 0.
const soft = 1e-6

func (s *space) pullAt(at vector) vector {
	var ax, ay, az float64
	for i := 0; i < len(s.places); {
		p := &s.places[i]
		dx, dy, dz := p.at[0]-at[0], p.at[1]-at[1], p.at[2]-at[2]
		square := dx*dx + dy*dy + dz*dz
		switch {
		case square > p.near:
			square += soft
			f := p.mass / (square * math.Sqrt(square))
			ax += dx * f
			ay += dy * f
			az += dz * f
			i = int(p.next)
		case p.hi == 0:
			i++
		default:
			for j := p.lo; j < p.hi; j++ {
				b := &s.bodies[j]
				dx, dy, dz := b.at[0]-at[0], b.at[1]-at[1], b.at[2]-at[2]
				square := dx*dx + dy*dy + dz*dz + soft
				f := b.mass / (square * math.Sqrt(square))
				ax += dx * f
				ay += dy * f
				az += dz * f
			}
			i = int(p.next)
		}
	}
	return vector{ax, ay, az}
}
