package checks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/tell"
)

// Fork-join work that blocks keeps its slot, and the forks that it has not published. Tasks that
// wait for a place are served by the watch for stalls; nobody sees forks that wait. With strict checks a
// timer looks at the stacks of all goroutines from time to time, for as long as workers are handed
// out, and logs where one has been blocked from one look to the next, and if all have. The timer keeps Go from
// seeing a deadlock: "all goroutines are asleep" is not said while one is due.

// The time to the next look, which doubles.
const (
	firstLook = 100 * time.Millisecond
	restLook  = time.Second / 2
)

// watch sees to it that somebody looks, if a worker is handed out.
func (c *Checks) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watching {
		c.watching = true
		time.AfterFunc(firstLook, func() { c.look(firstLook) })
	}
}

// look looks, the given time after the look before.
func (c *Checks) look(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out, places := c.handedOut() // each was noted before its watch was asked for
	if len(out) == 0 {
		c.watching = false
		return
	}
	useful := c.pool.Idlers() > 0 || c.pool.Public()
	all := tell.Read(tell.Traceback())
	stuck := 0 // of out, which only another goroutine can let go on
	for i := range all {
		g := &all[i]
		h := out[g.Number]
		if h == nil {
			continue
		}
		before := h.blocked
		if h.blocked = ""; !g.KeepsPlace() {
			continue
		}
		if h.blocked = g.Frames[0]; before != h.blocked {
			continue
		}
		if g.WaitsForOthers() {
			stuck++
		}
		if useful && c.tells(h.blocked) {
			c.logger.Warn("filch: fork-join work has been blocked for "+after.String()+" or more, and keeps its slot and its forks; "+
				"call what blocks inside Worker.Blocking", "pool", c.name, "state", cmp.Or(g.Call, g.State), "stack", g.Stack())
		}
	}
	if active := c.pool.Counts(c.pool.Places.Load()).Active; !useful && stuck == len(out) && places == active {
		c.tellStuck(after, all[1:]) // without the goroutine that looks, the first
	}
	next := min(2*after, restLook)
	time.AfterFunc(next, func() { c.look(next) })
}

// tells reports whether what is to be told of was not told of before.
func (c *Checks) tells(what string) bool {
	if c.told[what] {
		return false
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[what] = true
	return true
}

// tellStuck logs, once for the same stacks, that work in all places is blocked: what Go itself would say, if
// there were no timer, as soon as nothing else runs.
func (c *Checks) tellStuck(after time.Duration, all tell.Goroutines) {
	var stacks []string
	for _, g := range all {
		if len(g.Frames) > 0 {
			stacks = append(stacks, g.State+" at "+strings.Join(g.Frames, " < "))
		}
	}
	slices.Sort(stacks)
	if text := strings.Join(stacks, "; "); c.tells(text) {
		c.logger.Warn("filch: fork-join work has been blocked in all slots for "+after.String()+" or more, so no fork and no task runs: "+
			"it is a deadlock, unless another goroutine ends it", "pool", c.name, "workers", c.pool.Size(), "stacks", text)
	}
}

// handedOut returns what notes of the workers that are handed out and have their places, by the
// numbers of their goroutines, and how many workers these are.
func (c *Checks) handedOut() (out map[uint64]*Handout, places int) {
	out = map[uint64]*Handout{}
	for _, w := range *c.pool.Workers.Load() {
		if h := c.lent(w).Load(); h != nil && h.goroutine.Load() != 0 && w.Hold.Load().HasPlace() {
			out[h.number] = h
			places++
		}
	}
	return out, places
}
