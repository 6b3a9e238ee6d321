package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/steal"
)

// Tuning is what the scheduler pool does otherwise: by Stealing and YieldFirst what filch.WithStealing offers, and
// by the others what package policy fixes, to see what would be better. A field that is zero leaves it. The scheduler
// half has Amount alone.
type Tuning struct {
	WakeShare int `json:"wake_share,omitempty"` // instead of policy.WakeShare
	// FinderWakes is how many workers a worker wakes that has searched and found something, if the policy lets it. There
	// it wakes one.
	FinderWakes int `json:"finder_wakes,omitempty"`
	// Searchers lets one worker search for each so many. The policy lets half of them.
	Searchers int `json:"searchers,omitempty"`
	Price     int `json:"price,omitempty"`     // instead of policy.Price, ns
	SpinTime  int `json:"spin_time,omitempty"` // for searches and waits, instead of policy.SpinTime, ns
	Glance    int `json:"glance,omitempty"`    // instead of steal.Glance
	// Stealing is whom workers look at first: one of Stealings.
	Stealing string `json:"stealing,omitempty"`
	// YieldFirst lets other workers go first before each look. It takes a kernel to tell.
	YieldFirst bool `json:"yield_first,omitempty"`
	Reserve    int  `json:"reserve,omitempty"`      // instead of policy.Reserve
	HoldTime   int  `json:"hold_time,omitempty"`    // instead of policy.HoldTime, ns
	FreeSearch int  `json:"free_search,omitempty"`  // instead of policy.FreeSearch
	SavedTime  int  `json:"saved_search,omitempty"` // instead of policy.MaxSearch, ns, and no more than that
	// Amount is what a thief takes at a time: of forks, instead of one; of what the scheduler half queues, instead of half.
	// A worker that waits takes one.
	Amount Amount `json:"amount,omitzero"`
}

// Amount is how many of those that a victim has a thief takes, the one included that it runs.
type Amount struct {
	Every int `json:"every"`           // besides the first, one in so many
	Most  int `json:"most,omitempty"`  // no more than that, if it is not 0
	Leave int `json:"leave,omitempty"` // these are not taken, if there are more
}

// of returns how many of n are taken. There is at least one.
func (a Amount) of(n int) int {
	taken := 1 + policy.Share(n-a.Leave, a.Every)
	if a.Most > 0 {
		taken = min(taken, a.Most)
	}
	return taken
}

func (t Tuning) negative() bool {
	return min(t.WakeShare, t.Searchers, t.Price, t.SpinTime, t.Glance, t.Reserve, t.HoldTime, t.FreeSearch, t.SavedTime, t.FinderWakes,
		t.Amount.Every, t.Amount.Most, t.Amount.Leave) < 0
}

// checkTuning returns what is wrong with the tuning.
func (c Config) checkTuning() error {
	t := c.Tuning
	switch {
	case t != Tuning{Amount: t.Amount} && c.Scheduler == "half":
		return fmt.Errorf("sim: a tuning of %+v; the scheduler half has Amount alone", t)
	case t != Tuning{} && c.Scheduler != "pool" && c.Scheduler != "half":
		return fmt.Errorf("sim: a tuning of %+v; only the schedulers pool and half have one, not %s", t, c.Scheduler)
	case t.negative():
		return fmt.Errorf("sim: a tuning of %+v; no number may be negative", t)
	case t.Stealing != "" && !slices.Contains(Stealings(), t.Stealing):
		return fmt.Errorf("sim: Stealing is %q; there are %v", t.Stealing, Stealings())
	case t.YieldFirst && c.Kernel == nil:
		return errors.New("sim: YieldFirst changes nothing without a kernel: each worker has a processor, and nobody to yield to")
	}
	return nil
}

// wakes is policy.Counts.Wake.
func (t Tuning) wakes(c policy.Counts) bool {
	if t.WakeShare == 0 {
		return c.Wake()
	}
	return c.Searching <= c.Active/t.WakeShare && c.Active < c.Limit
}

// maySearch is policy.Counts.MaySearch.
func (t Tuning) maySearch(c policy.Counts) bool {
	if t.Searchers == 0 {
		return c.MaySearch()
	}
	return c.Searching < max(1, c.Limit/t.Searchers)
}

// earning returns the time by which forks are priced: at another price, it goes at another pace.
func (t Tuning) earning(ns int64) int64 {
	if t.Price == 0 {
		return ns
	}
	return ns * policy.Price / int64(t.Price)
}

func (t Tuning) spinTime() int64 {
	if t.SpinTime == 0 {
		return policy.SpinTime
	}
	return int64(t.SpinTime)
}

func (t Tuning) glance() int {
	if t.Glance == 0 {
		return steal.Glance
	}
	return t.Glance
}

// starts is Credit.Start.
func (t Tuning) starts(c *policy.Credit, now int64, limit int) {
	if t.Reserve == 0 {
		c.Start(now, limit)
		return
	}
	c.Spend(c.Earn(now) - 2*(limit-1) - t.Reserve)
}

// answer is Credit.Answer.
func (t Tuning) answer(c *policy.Credit, d policy.Demand, owed, public, idle int) policy.Answer {
	a := c.Answer(d, owed, public, idle)
	if t.Reserve > 0 {
		a.Most = max(a.Asked, min(c.Left(), 1), c.Left()-t.Reserve)
	}
	return a
}

func (t Tuning) holdTime() int64 {
	if t.HoldTime == 0 {
		return policy.HoldTime
	}
	return int64(t.HoldTime)
}

// searching returns the time by which the budget for searching goes: if another part of it is free, it goes at another
// pace.
func (t Tuning) searching(ns int64) int64 {
	if t.FreeSearch == 0 {
		return ns
	}
	return ns * policy.FreeSearch / int64(t.FreeSearch)
}

// saved returns the budget at the time now, by that clock, without what cannot be saved up.
func (t Tuning) saved(s policy.Search, now int64) policy.Search {
	if t.SavedTime == 0 {
		return s
	}
	return max(s, policy.Search(now-policy.FreeSearch*int64(t.SavedTime)))
}
