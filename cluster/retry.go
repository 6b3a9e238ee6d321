package cluster

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Retry says how often and when a handler's task is tried again after an error, a panic, or the loss of its node.
// The zero fields stand for those of [DefaultRetry].
//
// Between two attempts lies a time at random below First*Factor^(n-1) after the n-th, at most Most: "full jitter",
// which spreads tasks that failed together (Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015).
type Retry struct {
	Attempts int           // in all, with the first
	First    time.Duration // the longest wait after the first attempt
	Most     time.Duration // the longest wait of all
	Factor   float64       // by which the longest wait grows
}

// DefaultRetry returns what holds for a handler without [WithRetry]: 5 attempts, waits below 1 s, 2 s, 4 s and 8 s.
func DefaultRetry() Retry {
	return Retry{Attempts: 5, First: time.Second, Most: time.Minute, Factor: 2}
}

// filled returns r with the defaults in place of zeros.
func (r Retry) filled() Retry {
	d := DefaultRetry()
	if r.Attempts == 0 {
		r.Attempts = d.Attempts
	}
	if r.First == 0 {
		r.First = d.First
	}
	if r.Most == 0 {
		r.Most = max(d.Most, r.First)
	}
	if r.Factor == 0 {
		r.Factor = d.Factor
	}
	return r
}

// check returns which field makes no sense.
func (r Retry) check() error {
	switch {
	case r.Attempts < 1:
		return errors.New("cluster: Retry.Attempts is negative")
	case r.First < 0 || r.Most < r.First:
		return errors.New("cluster: Retry.First is negative, or more than Retry.Most")
	case !(r.Factor >= 1):
		return errors.New("cluster: Retry.Factor is less than 1")
	}
	return nil
}

// longest returns the longest wait after an attempt, of which the first is 1.
func (r Retry) longest(attempt int) time.Duration {
	d := float64(r.First)
	for range attempt - 1 {
		if d *= r.Factor; d >= float64(r.Most) {
			return r.Most
		}
	}
	return time.Duration(d)
}

// wait returns how long to wait after an attempt.
func (r Retry) wait(attempt int) time.Duration {
	if d := r.longest(attempt); d > 0 {
		return rand.N(d)
	}
	return 0
}

// decision is what becomes of a task after an attempt that failed.
type decision struct {
	dead bool
	wait time.Duration // if not dead
}

// decide returns what becomes of a task whose attempt has failed with err.
func (r Retry) decide(attempt int, err error) decision {
	if _, ok := errors.AsType[permanent](err); ok || attempt >= r.Attempts {
		return decision{dead: true}
	}
	if l, ok := errors.AsType[later](err); ok {
		return decision{wait: l.after}
	}
	return decision{wait: r.wait(attempt)}
}
