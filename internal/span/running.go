package span

import "sync/atomic"

// running counts the measured runs under way in the program. So what asks for a Recorder pays a load as
// long as there is none.
var running atomic.Int64

// of returns the Recorder of a worker, which is a type that stands above, and measure measures a function of one.
// Both are written once, before there is a worker.
var (
	of      func(worker any) *Recorder
	measure func(r *Recorder, calibrates bool, f func(worker any)) Profile
)

// Known says how the Recorder of a worker is found, and how a function is measured. Package filch calls it when it
// is initialized.
func Known(find func(worker any) *Recorder, run func(r *Recorder, calibrates bool, f func(worker any)) Profile) {
	of, measure = find, run
}

// Measure measures f on a *filch.Worker of a pool of its own, as filch.Measure does, with a Recorder of the
// caller's. It first finds what measuring costs, unless the clock of r does not count that.
func Measure(r *Recorder, calibrates bool, f func(worker any)) Profile {
	return measure(r, calibrates, f)
}

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
