package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tell"
)

// What a pool says of a stall: tasks are queued, and all places are taken by workers that are blocked. Where,
// their stacks tell. stall.go watches for it, and adds places.

// MostDumped is how many goroutines there may be for Dump and a stall to say where each is, since the world stands still for
// some microseconds for each.
const MostDumped = 10_000

// stalledQuiet is how long a pool does not log a stall again.
const stalledQuiet = 10 * time.Second

// stalled tells the logger that workers are blocked where the pool cannot see it, what has run longest, and
// where they are.
func (p *Pool) stalled(active, added int) {
	last, now := p.stallTold.Load(), clock.Now()
	if p.Logger == nil || last != 0 && now-last < int64(stalledQuiet) || !p.stallTold.CompareAndSwap(last, cmp.Or(now, 1)) {
		return
	}
	about := []any{"pool", p.Name, "workers", p.Engine.Size(), "active", active, "added", added}
	at := tell.ReadPools(tell.TracebackOf(MostDumped))
	longest, what, d := p.longest()
	g := at.Of(tell.Address(longest))
	if longest != nil {
		about = append(about, "longest", g.Named(what), "for", tell.Round(d))
	}
	if g != nil && len(g.Frames) > 0 {
		about = append(about, "state", cmp.Or(g.Call, g.State), "stack", g.Stack())
	}
	if others := p.stuck(at, longest); others != "" {
		about = append(about, "others", others)
	}
	p.Logger.Warn("filch: tasks are queued and none starts: workers are blocked; others take their places", about...)
}

// longest returns the worker that keeps its place and has been at one thing for longest, what that is, and for
// how long it has been at it at least; or nil if none has a task or the fork of another worker.
func (p *Pool) longest() (longest *Worker, what string, d time.Duration) {
	unused := p.Engine.Unused()
	for _, e := range *p.Engine.Workers.Load() {
		if unused[e] || !e.Hold.Load().HasPlace() {
			continue
		}
		w := of(e)
		running, since := w.Own.Running()
		at := e.Doing()
		switch {
		case running != nil && (longest == nil || since > d):
			longest, what, d = w, Describe(running), since
		case running == nil && at.Kind == engine.AtFork:
			if since := time.Duration(clock.Now() - at.Since); longest == nil || since > d {
				longest, what, d = w, "fork"+ofFunction(at.Entry), since
			}
		}
	}
	return longest, what, d
}

// mostStuck is how many places where workers are blocked are logged.
const mostStuck = 5

// stuck returns where workers of p but one are blocked, each place once.
func (p *Pool) stuck(at tell.Goroutines, but *Worker) string {
	var all []string
	for _, e := range *p.Engine.Workers.Load() {
		if w := of(e); w != but && e.Hold.Load().HasPlace() {
			if g := at.Of(tell.Address(w)); g != nil && g.KeepsPlace() {
				all = append(all, g.Stack())
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if g := at.Of(tell.Address(but)); g != nil {
		all = slices.DeleteFunc(all, func(s string) bool { return s == g.Stack() })
	}
	if len(all) > mostStuck {
		all = append(all[:mostStuck], fmt.Sprint("and ", len(all)-mostStuck, " more places"))
	}
	return strings.Join(all, "; ")
}

// Lends reports whether a function gives up a place while it runs, if it can.
func Lends(function string) bool {
	switch strings.TrimPrefix(function, tell.Filch) {
	case "Blocking", "(*Worker).Blocking":
		return true
	}
	return strings.HasSuffix(function, "/internal/task.(*Latch).Wait") || strings.HasSuffix(function, "/internal/task.(*Context).Blocking")
}

// ofFunction tells which function begins at entry, if that is not 0.
func ofFunction(entry uintptr) string {
	switch name := tell.Function("", entry); {
	case strings.HasPrefix(name, tell.Filch):
		return " of Join"
	case name != "":
		return " of " + name
	}
	return ""
}
