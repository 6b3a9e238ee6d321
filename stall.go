package filch

import (
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// What a pool says of a stall: tasks are queued, and all places are taken by workers that are blocked. Which
// that are, their stacks tell. internal/task watches for it and adds places.

// stalled tells the logger that workers are blocked where the pool cannot see it, and with checks where
// that is.
func (p *Pool) stalled(active, added int) {
	if p.logger == nil {
		return
	}
	about := []any{"pool", p.name, "workers", p.tasks.Engine.Size(), "active", active, "added", added}
	if p.checks != nil {
		about = append(about, "stack", p.stuck())
	}
	p.logger.Warn("filch: tasks are queued and none starts: workers are blocked; others take their places", about...)
}

// stuck returns where workers of p are blocked, each place once.
func (p *Pool) stuck() string {
	var all []string
	for _, pcs := range p.tasks.Engine.Stuck(lends) {
		all = append(all, stackInLine(pcs))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// lends reports whether a function gives up a place while it runs, if it can.
func lends(function string) bool {
	return function == atBlocking || function == atBlockingOf || function == task.AtWait
}

// What stacks show of those.
var atBlocking, atBlockingOf = engine.NameOf(Blocking), engine.NameOf((*Worker).Blocking)
