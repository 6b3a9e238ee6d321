package event

import "time"

// A Source is a pool as package trace sees it.
type Source interface {
	AddHook(h Hook)
	RemoveHook(h Hook)

	// Look returns what the pool is doing, as its Dump tells it. It looks at the stacks of all goroutines if
	// something runs and there are no more than 1,000, and if tasks wait for tasks.
	Look() Look
}

// A Look is what a pool is doing.
type Look struct {
	Workers  []WorkerLook `json:"workers"` // those that are in use
	InPlace  []TaskLook   `json:"inPlace"` // tasks that run in place on goroutines that are no workers of the pool
	Long     []TaskLook   `json:"long"`    // tasks that are long running
	Waits    []WaitLook   `json:"waits"`
	More     int          `json:"more"`    // waits that are not among these
	Circles  []string     `json:"circles"` // waits that keep one another from ending
	Held     []HeldLook   `json:"held"`
	MoreHeld int          `json:"moreHeld"` // tasks that are held and not among these
}

// A WorkerLook is what a worker is doing.
type WorkerLook struct {
	Worker int           `json:"worker"`
	Queued int           `json:"queued"` // in its own queue
	Task   string        `json:"task"`   // that it runs, or ""
	For    time.Duration `json:"for"`    // how long it has run at least
	Doing  string        `json:"doing"`  // what it began last, or ""
	Lent   bool          `json:"lent"`   // it waits or blocks where the pool sees it, and has no slot
	At     string        `json:"at"`     // where the user's code is, and what it waits for there, or ""
}

// A TaskLook is a task that runs outside of the workers.
type TaskLook struct {
	Task string `json:"task"`
	At   string `json:"at"` // as that of a WorkerLook
}

// A WaitLook is a task that waits.
type WaitLook struct {
	By string `json:"by"`
	On string `json:"on"`
}

// A HeldLook is a task that is not queued yet.
type HeldLook struct {
	Task string `json:"task"`
	Why  string `json:"why"`
}

// sourceOf is set by package filch.
var sourceOf func(pool any) Source

// Known sets how the Source of a pool is found. Package filch calls it when the program begins.
func Known(of func(pool any) Source) { sourceOf = of }

// SourceOf returns the Source of a pool, or nil if New has not made it.
func SourceOf(pool any) Source { return sourceOf(pool) }
