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
type pay struct {
	shallow int
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
)

func (p *pay) start(shallow int) {
	now := clock.Now()
	*p = pay{shallow: shallow, credit: 2, earned: now, looked: now, between: 1, seldom: true}
}

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
		return true
	}
	if p.earn() {
		p.credit--
		p.shallow++
	}
	return level <= p.shallow
}
