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

// What a pool logs about a stall: tasks are queued, and all places are taken by blocked workers. Their stacks show where.
// stall.go watches for it, and adds places.

// MostDumped is the most goroutines for which Dump and a stall say where each is: this stops the world for some microseconds
// per goroutine.
const MostDumped = 10_000

// stalledQuiet is the least time between two logged stalls of a pool.
const stalledQuiet = 10 * time.Second

// stalled logs that workers are blocked where the pool cannot see it, the longest running one, and where they are.
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
	p.Logger.Warn("filch: tasks are queued and none starts: workers are blocked; others take their slots", about...)
}

// longest returns the worker that keeps its slot and has been busy longest with one thing, what that is, and its least
// duration; or nil if none has a task or a stolen fork.
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

// mostStuck is how many locations of blocked workers are logged.
const mostStuck = 5

// stuck returns where workers of p, except but, are blocked, each location once.
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

// Lends reports whether a function lends its caller's place while it runs, if it can.
func Lends(function string) bool {
	switch strings.TrimPrefix(function, tell.Filch) {
	case "Blocking", "(*Worker).Blocking":
		return true
	}
	return strings.HasSuffix(function, "/internal/task.(*Latch).Wait") || strings.HasSuffix(function, "/internal/task.(*Context).Blocking")
}

// ofFunction names the function that begins at entry, if that is not 0.
func ofFunction(entry uintptr) string {
	switch name := tell.Function("", entry); {
	case strings.HasPrefix(name, tell.Filch):
		return " of Join"
	case name != "":
		return " of " + name
	}
	return ""
}
