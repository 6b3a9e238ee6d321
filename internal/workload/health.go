package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/filch-go/filch"
)

// health is the simulation of Colombia's health system, of the Olden suite and then the
// Barcelona suite: a tree of villages, each with a hospital, in 365 steps. Patients fall ill,
// wait, are examined and are cared for, or go to the hospital one level higher. A step is
// parallel for some 60 us in the smallest size, so that this measures short phases.
//
// Func fits: a step is a recursion, and each call takes its children's patients in when they
// are done.
var health = &Workload{
	Name:    "health",
	About:   "hospitals of a tree of villages in 365 steps: short parallel phases (BOTS)",
	Sizes:   slices.Sorted(maps.Keys(healthSizes)),
	Default: []Default{{Size: "test"}, {Size: "small"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		kind, ok := healthSizes[size]
		if !ok {
			return nil, fmt.Errorf("health: unknown size %q; there are %v", size, slices.Sorted(maps.Keys(healthSizes)))
		}
		top := newVillage(kind, kind.levels, 0)
		steps := func(step func()) string {
			for range kind.steps {
				step()
			}
			return ""
		}
		return &Job{
			Want: kind.want,
			Load: func() { top.settle(new(int32)) },
			Reset: func() {
				top.settle(new(int32))
			},
			Answer: func() string { return top.count().String() },
			Serial: func() string { return steps(func() { serialVillage(top) }) },
			Func: func(p filch.Scope) string {
				p.Do(func(w *filch.Worker) { steps(func() { villageFunc.Call(w, top) }) })
				return ""
			},
			Closures: func(w *filch.Worker, both Both) string {
				return steps(func() { closureVillage(w, both, top) })
			},
			Goroutines: func(int) string { return steps(func() { goVillage(top) }) },
		}, nil
	},
}

// healthKind is a size, with what is known of the end: the Barcelona suite has these numbers in
// its inputs of the same names.
type healthKind struct {
	levels, cities, steps int
	want                  string
}

var healthSizes = map[string]healthKind{
	"tiny":   {3, 5, 40, ""},
	"test":   {3, 18, 365, "7280 people, 343 hospitals, staff of 728, 5531 visits; 7160 at home, 80 wait, 26 are examined, 14 inside; average stay 5.259341"},
	"small":  {4, 18, 365, "131200 people, 6175 hospitals, staff of 13120, 96718 visits; 128997 at home, 1406 wait, 525 are examined, 272 inside; average stay 5.167470"},
	"medium": {4, 36, 365, "988000 people, 47989 hospitals, staff of 98800, 721934 visits; 971855 at home, 10249 wait, 3901 are examined, 1995 inside; average stay 5.156507"},
}

// What the inputs of the Barcelona suite have in common.
const (
	perStaff     = 10 // people
	examination  = 2  // steps
	care         = 12 // steps
	getsIll      = float32(0.002)
	needsCare    = float32(0.1)
	caredForHere = float32(0.15) // else it is more than that
	healthSeed   = 23
)

// patient is a person, at home or not.
type patient struct {
	seed   int32
	id     int32
	time   int32 // in hospitals so far
	left   int32 // steps
	visits int32
}

// draw is the generator of Park and Miller as the Barcelona suite has it. What it keeps is not
// what it returns, and overflows.
func draw(seed *int32) float32 {
	const a, m, q, r, mask = 16807, 2147483647, 127773, 2836, 123459876
	n := *seed ^ mask
	n = a*(n%q) - r*(n/q)
	n ^= mask
	if n < 0 {
		n += m
	}
	*seed = n * m
	return float32(1.0/m) * float32(n)
}

// village is one with its hospital, and with the villages below. Lists are in the order of
// arrival. They are slices of patients, so that a step goes through memory in order.
type village struct {
	id       int
	top      bool
	staff    int
	free     int // of the staff
	below    []*village
	home     []patient
	waiting  []patient
	examined []patient
	inside   []patient
	up       []patient // to go to the hospital above, which takes them when this village's step is over
}

func newVillage(kind healthKind, level, id int) *village {
	v := &village{id: id, top: level == kind.levels, staff: 1 << level}
	if level == 1 {
		return v
	}
	for i := range kind.cities {
		v.below = append(v.below, newVillage(kind, level-1, id*kind.cities+i+1))
	}
	return v
}

// settle puts all people home, as it is at the beginning. The suite numbers them from the top,
// and the villages of a level from the last to the first.
func (v *village) settle(next *int32) {
	v.free = v.staff
	v.home, v.waiting, v.examined, v.inside, v.up = v.home[:0], v.waiting[:0], v.examined[:0], v.inside[:0], v.up[:0]
	seed := int32(v.id * (127773 + healthSeed))
	for range v.staff * perStaff {
		v.home = append(v.home, patient{seed: seed, id: *next})
		draw(&seed)
		*next++
	}
	for i := len(v.below) - 1; i >= 0; i-- {
		v.below[i].settle(next)
	}
}

// admit takes p in: it is examined, or has to wait.
func (v *village) admit(p patient) {
	p.visits++
	if v.free == 0 {
		v.waiting = append(v.waiting, p)
		return
	}
	v.examine(p)
}

func (v *village) examine(p patient) {
	v.free--
	p.left = examination
	p.time += examination
	v.examined = append(v.examined, p)
}

// treat is the part of a step that has nothing to do with the villages below.
func (v *village) treat() {
	v.up = v.up[:0]
	v.inside = keep(v.inside, func(p *patient) bool {
		if p.left--; p.left > 0 {
			return true
		}
		v.free++
		v.home = append(v.home, *p)
		return false
	})
	v.examined = keep(v.examined, func(p *patient) bool {
		if p.left--; p.left > 0 {
			return true
		}
		v.decide(p)
		return false
	})
	served := min(v.free, len(v.waiting))
	for _, p := range v.waiting[:served] {
		v.examine(p)
	}
	v.waiting = slices.Delete(v.waiting, 0, served)
	for i := range v.waiting {
		v.waiting[i].time++
	}
}

// decide sends p, who has been examined, home or inside or to the hospital above.
func (v *village) decide(p *patient) {
	switch {
	case draw(&p.seed) >= needsCare:
		v.free++
		v.home = append(v.home, *p)
	case draw(&p.seed) > caredForHere || v.top:
		p.left = care
		p.time += care
		v.inside = append(v.inside, *p)
	default:
		v.free++
		v.up = append(v.up, *p)
	}
}

// receive is the rest of a step, after those of the villages below: it takes in whom they have
// sent, those with low numbers first, and who falls ill.
func (v *village) receive() {
	sent := v.up[len(v.up):] // behind what is to go up
	for _, b := range v.below {
		sent = append(sent, b.up...)
	}
	slices.SortFunc(sent, func(a, b patient) int { return cmp.Compare(a.id, b.id) })
	for _, p := range sent {
		v.admit(p)
	}
	for i := range v.home {
		if draw(&v.home[i].seed) < getsIll {
			v.fallIll(i)
			return
		}
	}
}

// fallIll is the rest of receive, from the first who has fallen ill.
func (v *village) fallIll(first int) {
	v.admit(v.home[first])
	kept := first
	for i := first + 1; i < len(v.home); i++ {
		if draw(&v.home[i].seed) < getsIll {
			v.admit(v.home[i])
			continue
		}
		v.home[kept] = v.home[i]
		kept++
	}
	v.home = v.home[:kept]
}

// keep leaves those in the list that f says, in order.
func keep(list []patient, f func(p *patient) bool) []patient {
	kept := list[:0]
	for i := range list {
		if f(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
}

func serialVillage(v *village) {
	for _, b := range v.below {
		serialVillage(b)
	}
	v.treat()
	v.receive()
}

var villageFunc = filch.NewFunc(villageBody)

func villageBody(f *filch.Frame[*village, struct{}], v *village) struct{} {
	var few [32]filch.Fork
	forks := few[:0]
	for _, b := range v.below {
		forks = append(forks, f.Fork(b))
	}
	v.treat()
	for i := len(forks) - 1; i >= 0; i-- {
		f.Join(forks[i])
	}
	v.receive()
	return struct{}{}
}

func closureVillage(w *filch.Worker, both Both, v *village) {
	if len(v.below) > 0 {
		split(w, both, 0, len(v.below), func(w *filch.Worker, i int) { closureVillage(w, both, v.below[i]) })
	}
	v.treat()
	v.receive()
}

// goVillage has a goroutine for each of the villages below the top: those of the lowest level
// take less time than it takes to start one.
func goVillage(top *village) {
	var wg sync.WaitGroup
	for _, b := range top.below {
		wg.Go(func() { serialVillage(b) })
	}
	top.treat()
	wg.Wait()
	top.receive()
}

// healthCount is what there is to know of villages at the end.
type healthCount struct {
	people, hospitals, staff, visits, home, waiting, examined, inside int
	time                                                              int
}

func (v *village) count() (c healthCount) {
	for _, b := range v.below {
		d := b.count()
		c.people += d.people
		c.hospitals += d.hospitals
		c.staff += d.staff
		c.visits += d.visits
		c.home += d.home
		c.waiting += d.waiting
		c.examined += d.examined
		c.inside += d.inside
		c.time += d.time
	}
	c.hospitals++
	c.staff += v.staff
	c.home += len(v.home)
	c.waiting += len(v.waiting)
	c.examined += len(v.examined)
	c.inside += len(v.inside)
	for _, list := range [][]patient{v.home, v.waiting, v.examined, v.inside} {
		c.people += len(list)
		for _, p := range list {
			c.visits += int(p.visits)
			c.time += int(p.time)
		}
	}
	return c
}

func (c healthCount) String() string {
	return fmt.Sprintf("%d people, %d hospitals, staff of %d, %d visits; %d at home, %d wait, %d are examined, %d inside; average stay %.6f",
		c.people, c.hospitals, c.staff, c.visits, c.home, c.waiting, c.examined, c.inside, float32(c.time)/float32(c.people))
}
