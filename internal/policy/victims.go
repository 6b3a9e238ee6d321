package policy

import "github.com/filch-go/filch/steal"

// Victims is how one worker looks at the others: a thief of an order, what that asks to be told, and the look that is
// under way. The pool and the simulator drive it.
type Victims struct {
	thief  steal.Thief
	stole  steal.OnStole // the thief, if it asks for that; likewise the others
	robbed steal.OnRobbed
	missed steal.OnMissed
	row    int // looks in vain in this search
	rest   int // turns that are still to be sat out
	vain   int // looks in vain since the last steal
	around int // how far glances without the thief have come
	look   steal.Look
}

// trust is after how many looks in vain every second glance goes around without asking the thief. An order whose glances have always
// the same victims would else find nothing, and whoever sees the work wake one worker after another for it. Those of package steal
// need no help: in the long run, their glances come to all.
const trust = 16

// NewVictims returns the victims of a worker with that seed.
func NewVictims(order steal.Order, seed uint64) *Victims {
	v := &Victims{thief: order.Thief(seed)}
	v.stole, _ = v.thief.(steal.OnStole)
	v.robbed, _ = v.thief.(steal.OnRobbed)
	v.missed, _ = v.thief.(steal.OnMissed)
	return v
}

// Begin is called when a search begins.
func (v *Victims) Begin() { v.row, v.rest = 0, 0 }

// Rests reports whether the thief sits this turn out, and counts it.
func (v *Victims) Rests() bool {
	if v.rest <= 0 {
		return false
	}
	v.rest--
	return true
}

// Look returns a look at no more than most of the workers that are not the thief, which is at the place self.
func (v *Victims) Look(workers steal.Workers, self, most int) *steal.Look {
	l := &v.look
	l.Begin(workers, self, most)
	if v.vain < trust || v.vain%2 == 1 || l.Turns() == l.Len() {
		v.thief.Look(l)
		return l
	}
	l.Start(v.around)
	v.around = (v.around + l.Turns()) % l.Len()
	return l
}

// Missed is called when the thief has looked, and found nothing.
func (v *Victims) Missed() {
	v.vain++
	if v.row++; v.missed != nil {
		v.rest = min(v.missed.Missed(v.row), steal.MostRest)
	}
}

// Stole is called when the thief has stolen from a worker.
func (v *Victims) Stole(from int) {
	v.row, v.rest, v.vain = 0, 0, 0
	if v.stole != nil {
		v.stole.Stole(from)
	}
}

// HearsOfRobbers reports whether the thief is to be told who robs it.
func (v *Victims) HearsOfRobbers() bool { return v.robbed != nil }

// Robbed is called before a look when a worker has stolen from the thief.
func (v *Victims) Robbed(by int) { v.robbed.Robbed(by) }
