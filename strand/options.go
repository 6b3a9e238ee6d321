package strand

// Option is an option of [Run].
type Option func(h *how)

// Eager makes each spawn real: the caller's continuation is offered to other workers at once, and its stack is parked
// while f runs on another. That costs several times as much as the default. Use it if all strands take long, if they
// block in [Strand.Blocking], and to test programs, because any spawn may then be stolen from.
func Eager() Option { return func(h *how) { h.eager = true } }
