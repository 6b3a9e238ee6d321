package race

import "context"

// part calls f as a part of the task of ctx that is a goroutine of its own to the detector; see RunPart. It is written
// once, before there is a pool.
var part func(ctx context.Context, f func(ctx context.Context)) bool

// PartsKnown says how part is done. Package filch calls it when it is initialized.
func PartsKnown(run func(ctx context.Context, f func(ctx context.Context)) bool) { part = run }

// RunPart calls f, with a context of its own, in a Child that is opened now, and returns when f has ended. Neither
// is ordered after the other by that end. ctx is the context of the task that runs, and f catches its panics. RunPart reports false,
// and does not call f, if the pool has no logical races, or too many children are open.
func RunPart(ctx context.Context, f func(ctx context.Context)) bool { return part(ctx, f) }
