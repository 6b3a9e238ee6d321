package filch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/tell"
)

// Fork-join work that blocks keeps its place, and the forks that it has not published. Tasks that
// wait for a place are served by the watch for stalls; nobody sees forks that wait. With WithChecks a
// timer looks at the stacks of all goroutines from time to time, for as long as workers are handed
// out, and logs where one has been blocked from one look to the next, and if all have. The timer keeps Go from
// seeing a deadlock: "all goroutines are asleep" is not said while one is due.

// The time to the next look, which doubles.
const (
	firstLook = 100 * time.Millisecond
	restLook  = time.Second / 2
)

// watch sees to it that somebody looks, if a worker of p is handed out.
func (k *checks) watch(p *Pool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.watching {
		k.watching = true
		time.AfterFunc(firstLook, func() { k.look(p, firstLook) })
	}
}

// look looks, the given time after the look before.
func (k *checks) look(p *Pool, after time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out, places := p.handedOut() // each was noted before its watch was asked for
	if len(out) == 0 {
		k.watching = false
		return
	}
	useful := p.tasks.Engine.Idlers() > 0 || p.tasks.Engine.Public()
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
		if useful && k.tells(h.blocked) {
			p.logger.Warn("filch: fork-join work has been blocked for "+after.String()+" or more, and keeps its place and its forks; "+
				"call what blocks inside Worker.Blocking", "pool", p.name, "state", cmp.Or(g.Call, g.State), "stack", g.Stack())
		}
	}
	if active := p.tasks.Engine.Counts(p.tasks.Engine.Places.Load()).Active; !useful && stuck == len(out) && places == active {
		k.tellStuck(p, after, all[1:]) // without the goroutine that looks, the first
	}
	next := min(2*after, restLook)
	time.AfterFunc(next, func() { k.look(p, next) })
}

// tells reports whether what is to be told of was not told of before.
func (k *checks) tells(what string) bool {
	if k.told[what] {
		return false
	}
	if k.told == nil {
		k.told = map[string]bool{}
	}
	k.told[what] = true
	return true
}

// tellStuck logs, once for the same stacks, that work in all places is blocked: what Go itself would say, if
// there were no timer, as soon as nothing else runs.
func (k *checks) tellStuck(p *Pool, after time.Duration, all []tell.Goroutine) {
	var stacks []string
	for _, g := range all {
		if len(g.Frames) > 0 {
			stacks = append(stacks, g.State+" at "+strings.Join(g.Frames, " < "))
		}
	}
	slices.Sort(stacks)
	if text := strings.Join(stacks, "; "); k.tells(text) {
		p.logger.Warn("filch: fork-join work has been blocked in all places for "+after.String()+" or more, so no fork and no task runs: "+
			"it is a deadlock, unless another goroutine ends it", "pool", p.name, "workers", p.tasks.Engine.Size(), "stacks", text)
	}
}

// handedOut returns what notes of the workers of p that are handed out and have their places, by the
// numbers of their goroutines, and how many workers these are.
func (p *Pool) handedOut() (out map[uint64]*handout, places int) {
	out = map[uint64]*handout{}
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if h := asWorker(w).lent.Load(); h != nil && h.goroutine.Load() != 0 && w.Hold.Load().HasPlace() {
			out[h.number] = h
			places++
		}
	}
	return out, places
}
