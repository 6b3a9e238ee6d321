package live

import (
	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// IsRecorded reports whether something records p.
func IsRecorded(p *filch.Pool) bool {
	return event.SourceOf(p).(interface{ IsHooked() bool }).IsHooked()
}
