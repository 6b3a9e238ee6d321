package engine

import (
	"context"
	"runtime/trace"

	"github.com/filch-go/filch/internal/event"
)

// regionOf begins the region of j, which a thief runs, in the trace of the Go runtime, if it is on, or returns nil.
func regionOf(j *Job) *trace.Region {
	if !trace.IsEnabled() {
		return nil
	}
	return trace.StartRegion(context.Background(), "filch fork "+event.FuncName(j.entry))
}
