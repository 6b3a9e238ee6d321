package span

import "sync/atomic"

// running counts the measured runs under way in the program. So what asks for a Recorder pays a load as
// long as there is none.
var running atomic.Int64

// of returns the Recorder of a worker, which is a type that stands above. It is written once, before
// there is a worker.
var of func(worker any) *Recorder

// Known says how the Recorder of a worker is found. Package filch calls it when it is initialized.
func Known(find func(worker any) *Recorder) { of = find }

// Run calls f, during which Of looks for Recorders.
func Run(f func()) {
	running.Add(1)
	defer running.Add(-1)
	f()
}

// Of returns the Recorder of a *filch.Worker that is measured, or nil.
func Of[W any](worker W) *Recorder {
	if running.Load() == 0 {
		return nil
	}
	return of(worker)
}
