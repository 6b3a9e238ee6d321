package strand

// Option is an option of [Run].
type Option func(h *how)

// Eager makes each spawn real: the continuation of the caller is offered to other workers at once. The caller's
// stack is parked, and f runs on another. That costs several times as much as the default. It is for strands
// that all take long, for those that block, by [Strand.Blocking], and to test programs: with it each spawn may be stolen.
func Eager() Option { return func(h *how) { h.eager = true } }
