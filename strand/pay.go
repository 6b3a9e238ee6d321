package strand

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// pay decides which spawns are real on one worker.
//
// What a spawn as a plain call hides is the rest of the caller, and with it the rest of all below it on the
// same carrier: these can be offered only together, by the next spawn that is real. So to make one real deep in
// a recursion of tiny calls is of no use: all the rest goes to the thief, and what stays is a leaf. What is worth to be offered
// is near the root. A strand spawns really if its level, the number of spawns that it is below the root, is at most
// shallow, and if there is credit. That is earned by time. When much is left shallow rises, and it
// falls when none is left: so it settles where a child takes about as long as it takes to earn one.
//
// A worker that asks, while nothing can be offered, makes shallow rise too. If the spawns come seldom,
// the next is real wherever it is.
//
// A loop of long children may be deep as well. Were a spawn real only when somebody asks, each worker that steals
// the loop would first run a child by a plain call, while all others wait. So after two spawns that are as far apart
// as credit takes to earn, the next ones are real, as many as there are workers. A thief goes on with that.
type pay struct {
	shallow int
	coarse  int   // deep spawns that are still to be real, after a child that took long
	watch   int   // deep spawns that are still to be looked at, to find such a child
	watched int64 // when the last of those was, or 0
	credit  int
	earned  int64 // the time up to which credit was counted
	looked  int64 // when the clock was looked at for a demand that was not met
	between int   // spawns from then to the next look
	skip    int   // that are left of these
	seldom  bool  // spawns came so the last time
}

const (
	price     = 4000 // ns of work that pay for a real spawn
	maxCredit = 64
	plenty    = 4    // credit that makes shallow rise
	seldom    = 1000 // ns between spawns
	atOnce    = 8    // spawns between two looks, if they do not come seldom
	watchFor  = 2    // spawns, whose distance tells how long a child takes
)

func (p *pay) start(shallow int) {
	now := clock.Now()
	*p = pay{shallow: shallow, credit: 2, earned: now, looked: now, between: 1, seldom: true}
	if shallow >= 0 {
		p.watch = watchFor
	}
}

// looks reports whether deep spawns are looked at.
func (p *pay) looks() bool { return p.watch > 0 || p.coarse > 0 }

// earn reports whether there is credit.
func (p *pay) earn() bool {
	if p.credit > 0 {
		return true
	}
	now := clock.Now()
	n := (now - p.earned) / price
	if n <= 0 {
		return false
	}
	p.credit, p.earned = int(min(n, maxCredit)), now
	return true
}

// pays reports whether a spawn of a strand of that level is to be real.
func (l *list) pays(level int) bool {
	if l.run.eager {
		return true
	}
	p := &l.pay
	if level > p.shallow {
		if p.looks() && p.isCoarse(l.w.Pool().Size()) {
			return true
		}
		return atomic.LoadUint32(&l.w.Demand) >= engine.Hunger && l.isUnmet() && p.paysDeep(level) // R12 of the engine
	}
	if !p.earn() {
		p.shallow--
		return false
	}
	if p.credit >= plenty {
		p.shallow++
	}
	p.credit--
	return true
}

// isUnmet answers a demand, now and then, and reports whether it is still there.
func (l *list) isUnmet() bool {
	if l.pay.skip > 0 {
		l.pay.skip--
		return false
	}
	l.w.Answer()
	return l.w.Hungry()
}

// isCoarse looks at a deep spawn, and reports whether it is real since children take long: the last one did, which began at
// the spawn that was looked at before, or one of so many before it.
func (p *pay) isCoarse(workers int) bool {
	now := clock.Now()
	long := p.watched != 0 && now-p.watched >= price
	p.watched = now
	switch {
	case long:
		p.coarse, p.watch = workers, watchFor
	case p.coarse > 0:
		p.coarse--
	default:
		p.watch--
		return false
	}
	if !p.earn() {
		return false
	}
	p.credit--
	return true
}

// legacy is what a thief is told of the pay of its victim.
type legacy struct {
	shallow int
	coarse  int
	watched int64 // when a spawn was whose child may not have ended since, or 0
}

func (p *pay) legacy() legacy {
	if !p.looks() {
		return legacy{shallow: p.shallow}
	}
	return legacy{p.shallow, p.coarse, p.watched}
}

// follow is start for a thief. A continuation that is stolen long after its spawn is that of a child that takes long.
func (p *pay) follow(of legacy, workers int) {
	p.start(of.shallow)
	p.coarse = of.coarse
	if of.watched != 0 && p.earned-of.watched >= price {
		p.coarse = workers
	}
}

// paysDeep is for a spawn that would be a plain call, if no other worker asked.
func (p *pay) paysDeep(level int) bool {
	now := clock.Now()
	took := now - p.looked
	p.looked = now
	switch {
	case took < seldom*int64(p.between):
		p.seldom, p.between = false, atOnce
	case p.between == 1:
		p.seldom = true
	default: // perhaps nobody has asked for a while
		p.between = 1
	}
	p.skip = p.between - 1
	if p.seldom {
		p.watch, p.watched = watchFor, now
		return true
	}
	if p.earn() {
		p.credit--
		p.shallow++
	}
	return level <= p.shallow
}
