package task

import (
	"slices"
	"time"
)

// Options are those of one task.
type Options struct {
	Priority    int
	Name        string
	Deadline    time.Time
	LongRunning bool
	Fair        bool
	Detached    bool // no code has the Future
	OnDrop      func(err error)
	hold        *Held
}

// Plain reports whether a task with these options needs no more than one without, once it is queued.
func (o *Options) Plain() bool {
	return o.Name == "" && o.Deadline.IsZero() && !o.LongRunning && o.OnDrop == nil && o.hold == nil
}

// holding returns o.hold, made on first use.
func (o *Options) holding() *Held {
	if o.hold == nil {
		o.hold = &Held{}
	}
	return o.hold
}

// After adds n tasks or promises as dependencies.
func (o *Options) After(n int, dep func(i int) FutureTask) {
	h := o.holding()
	to := h.deps.Load()
	if to == nil {
		to = &dependencies{}
		to.all = to.few[:0]
		h.deps.Store(to)
	}
	to.all = slices.Grow(to.all, n)
	for i := range n {
		to.all = append(to.all, dependency{on: dep(i)})
	}
}

// Of puts the task into s. If it is in another Subpool already, Of returns that; otherwise nil.
func (o *Options) Of(s *Subpool) (other *Subpool) {
	h := o.holding()
	if of := h.Slot.Of; of != nil && of != s {
		return of
	}
	h.Slot.Of, h.extras.slot = s, h
	return nil
}

// extras returns the extras for a task with these options. Its Held, if any, learns whether the task is long.
func (o *Options) extras() *extras {
	if o.hold != nil {
		o.hold.Long = o.LongRunning
		return &o.hold.extras
	}
	return &extras{}
}

// tellDropped calls OnDrop, if set. The goroutine that dropped the task calls it, once.
func (o *Options) tellDropped(err error) {
	if o.OnDrop != nil {
		o.OnDrop(err)
	}
}
