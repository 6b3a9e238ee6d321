package sim

import "github.com/filch-go/filch/internal/policy"

// Tuning changes what package policy fixes, for the scheduler pool, to see what would be better. A field that is 0
// leaves it.
type Tuning struct {
	WakeShare int `json:"wake_share,omitempty"` // instead of policy.WakeShare
	// Searchers lets one worker search for each so many. The policy lets half of them.
	Searchers int `json:"searchers,omitempty"`
	Price     int `json:"price,omitempty"`     // instead of policy.Price, ns
	SpinTime  int `json:"spin_time,omitempty"` // for searches and waits, instead of policy.SpinTime, ns
	Glance    int `json:"glance,omitempty"`    // instead of policy.Glance
	// RoundRobin lets all thieves begin with the worker after them.
	RoundRobin bool `json:"round_robin,omitempty"`
}

func (t Tuning) negative() bool {
	return min(t.WakeShare, t.Searchers, t.Price, t.SpinTime, t.Glance) < 0
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
		return policy.Glance
	}
	return t.Glance
}

func (t Tuning) victims(seed uint64) policy.Victims {
	if t.RoundRobin {
		return policy.RoundRobin()
	}
	return policy.RandomStart(seed)
}
