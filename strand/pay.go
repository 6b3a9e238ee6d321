package strand

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// pay decides which spawns are real on one worker.
//
// A spawn as a plain call hides the rest of the caller, and the rest of everything below it on the same carrier. These
// can be offered only together, by the next real spawn. A real spawn deep in a recursion of tiny calls is therefore
// useless: the thief gets all the rest, and only a leaf stays. The work worth offering is near the root. A spawn is
// real if its strand's level, the number of spawns between it and the root, is at most shallow, and if there is credit,
// which running time earns. shallow rises while much credit is left, and falls when none is left, so it settles where a
// child takes about as long as earning a credit.
//
// A worker that asks while nothing can be offered also raises shallow. If spawns are infrequent, the next one is real
// at any depth.
//
// A loop of long children may be deep as well. If spawns became real only on demand, each worker that steals the loop
// would first run a child by a plain call while all others wait. After two spawns at least as far apart as a credit
// takes to earn, the next spawns are therefore real, as many as there are workers. A thief inherits that state.
type pay struct {
	shallow int
	coarse  int   // deep spawns still to be real after a long child
	watch   int   // deep spawns still to be timed, to find such a child
	watched int64 // when the last of those was, or 0
	credit  int
	earned  int64 // the time up to which credit was counted
	looked  int64 // when the clock was last read for an unmet demand
	between int   // spawns from then to the next check
	skip    int   // how many of these are left
	seldom  bool  // spawns were infrequent at the last check
}

const (
	price     = 4000 // ns of work that pay for a real spawn
	maxCredit = 64
	plenty    = 4    // credit from which shallow rises
	seldom    = 1000 // ns between spawns
	atOnce    = 8    // spawns between checks, unless they are infrequent
	watchFor  = 2    // spawns to time, which shows how long a child takes
)

func (p *pay) start(shallow int) {
	now := clock.Now()
	*p = pay{shallow: shallow, credit: 2, earned: now, looked: now, between: 1, seldom: true}
	if shallow >= 0 {
		p.watch = watchFor
	}
}

// looks reports whether deep spawns are timed.
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

// pays reports whether a spawn of a strand of that level is real.
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

// isCoarse times a deep spawn, and reports whether it is real because children take long: because the last one did,
// which began at the previously timed spawn, or because one of the last few did.
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

// legacy is what a thief learns of its victim's pay.
type legacy struct {
	shallow int
	coarse  int
	watched int64 // when a spawn began whose child may not have ended since, or 0
}

func (p *pay) legacy() legacy {
	if !p.looks() {
		return legacy{shallow: p.shallow}
	}
	return legacy{p.shallow, p.coarse, p.watched}
}

// follow is start for a thief. A continuation stolen long after its spawn belongs to a child that takes long.
func (p *pay) follow(of legacy, workers int) {
	p.start(of.shallow)
	p.coarse = of.coarse
	if of.watched != 0 && p.earned-of.watched >= price {
		p.coarse = workers
	}
}

// paysDeep decides on a deep spawn that is a plain call unless another worker asks.
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
