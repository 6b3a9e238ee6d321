package live

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/tell"
)

// A verdict says in a line what is the matter with a pool.
type verdict struct {
	Kind    string   `json:"kind"` // stuck, slow, busy or idle
	Text    string   `json:"text"`
	Reasons []string `json:"reasons"`
}

const (
	patience = 2 * time.Second // for which nothing may begin or end before that is told
	window   = 5 * time.Second // over which rates are taken
	least    = 3 * time.Second // of which there must be so much before a growth is told
)

// A judge finds verdicts from what a pool says of itself.
type judge struct {
	past  []moment  // of the window, the oldest first
	moved time.Time // when something was seen to begin or end, or zero
}

// A moment is what a pool said of itself.
type moment struct {
	at    time.Time
	stats filch.Stats
}

// note takes in what the pool says now.
func (j *judge) note(now time.Time, s filch.Stats) {
	if n := len(j.past); n > 0 && moves(j.past[n-1].stats, s) {
		j.moved = now
	}
	j.past = append(j.past, moment{now, s})
	for len(j.past) > 2 && now.Sub(j.past[1].at) >= window {
		j.past = j.past[1:]
	}
}

// still returns for how long nothing has begun or ended, as far as is known: since a move was seen, or else since all began that runs.
func (j *judge) still(l event.Look) (d time.Duration) {
	now := j.past[len(j.past)-1].at
	if !j.moved.IsZero() {
		return now.Sub(j.moved)
	}
	for i, w := range slices.DeleteFunc(slices.Clone(l.Workers), func(w event.WorkerLook) bool { return w.Task == "" }) {
		if i == 0 || w.For < d {
			d = w.For
		}
	}
	return max(d, now.Sub(j.past[0].at))
}

// judge returns the worst that can be said of what was noted, and of the latest look.
func (j *judge) judge(l event.Look) verdict {
	s, still := j.past[len(j.past)-1].stats, j.still(l)
	blocked, computing := whereabouts(l)
	switch {
	case len(l.Circles) > 0:
		return circle(l)
	case s.Paused && s.Tasks.Queued > 0:
		return verdict{"slow", fmt.Sprintf("paused, %s queued", tell.Count(s.Tasks.Queued, "task")), []string{"Pool.Pause was called, and Resume was not."}}
	case s.Tasks.Queued > 0 && still >= patience:
		return nothingFinishes(s, max(still, s.Tasks.Oldest), blocked, computing)
	case s.Tasks.Waiting > 0 && still >= patience, len(blocked) > 0 && len(computing) == 0 && still >= window:
		return nothingFinishes(s, still, blocked, computing)
	}
	if v, grows := j.backlog(s); grows {
		return v
	}
	if bad := j.rate(func(s filch.Stats) int64 { return s.Tasks.Failed + s.Tasks.Panicked }); bad > 0 {
		return verdict{"slow", fmt.Sprintf("%s, %s tasks/s fail", working(s), decimals(bad)),
			[]string{fmt.Sprintf("Since the pool was made, %d have failed and %d panicked.", s.Tasks.Failed, s.Tasks.Panicked)}}
	}
	return j.well(s)
}

// moves reports whether something was begun or ended between two moments.
func moves(a, b filch.Stats) bool {
	return a.Tasks.Started != b.Tasks.Started || a.Tasks.Done != b.Tasks.Done || a.Tasks.Cancelled != b.Tasks.Cancelled
}

// working says how many workers are busy.
func working(s filch.Stats) string {
	if more := extra(s); more > 0 {
		return fmt.Sprintf("%s busy, %d more than the pool has, since some are blocked", tell.Count(s.Busy, "worker"), more)
	}
	return fmt.Sprintf("%d of %s busy", s.Busy, tell.Count(s.Workers, "worker"))
}

// extra returns how many workers are busy in the place of some that are blocked where the pool cannot see it.
func extra(s filch.Stats) int { return max(s.Extra, s.Busy-s.Workers) }

// circle tells of tasks that wait for one another, with where each does.
func circle(l event.Look) verdict {
	var steps []string
	for part := range strings.SplitSeq(l.Circles[0], " waits for ") {
		if name, isTask := strings.CutPrefix(part, "task "); isTask {
			steps = append(steps, name+placeOf(l, part))
		}
	}
	if n := len(steps); n > 1 && steps[0] == steps[n-1] {
		steps = steps[:n-1] // it is told where the circle closes
	}
	text := fmt.Sprintf("%s wait for each other: %s", tell.Count(len(steps), "task"), strings.Join(steps, " → "))
	if len(steps) == 1 {
		text = fmt.Sprintf("a task waits for itself: %s", steps[0])
	}
	reasons := []string{"A circle of waits never ends. What the tasks hold is kept, other work goes on."}
	for _, c := range l.Circles {
		reasons = append(reasons, "Circle: "+c)
	}
	return verdict{"stuck", text, reasons}
}

// placeOf returns where the task with that description is, or "".
func placeOf(l event.Look, task string) string {
	at := ""
	for _, w := range l.Workers {
		if w.Task == task {
			at = w.At
		}
	}
	for _, t := range slices.Concat(l.InPlace, l.Long) {
		if t.Task == task {
			at = t.At
		}
	}
	if _, line := waitAndLine(at); line != "" {
		return " at " + line
	}
	return ""
}

// nothingFinishes tells that nothing has begun or ended for some time.
func nothingFinishes(s filch.Stats, still time.Duration, blocked, computing []string) verdict {
	what := []string{working(s)}
	if n := s.Tasks.Queued; n > 0 {
		what = append(what, fmt.Sprintf("%d queued", n))
	} else {
		what = append(what, tell.Count(s.Tasks.Running, "task")+" begun")
	}
	if n := s.Tasks.Waiting; n > 0 {
		what = append(what, tell.Count(n, "submitter")+" waiting for room")
	}
	v := verdict{"stuck", fmt.Sprintf("%s, nothing finishes for %v", strings.Join(what, ", "), still.Truncate(time.Second)), nil}
	switch {
	case len(blocked) > 0 && len(computing) == 0:
		if s.Tasks.Queued+s.Tasks.Waiting+max(0, extra(s)) == 0 {
			v.Kind = "slow" // they may wait for what is slow
		}
		v.Text += ": " + most(blocked)
		v.Reasons = append(v.Reasons, "The tasks wait for something that the pool does not see, such as a channel, a lock or a limit of their own. "+
			"A wait by a Future or a Group, or in filch.Blocking, lets other tasks run meanwhile.")
	case len(computing) > 0:
		v.Kind = "slow"
		v.Text += ": computing, " + most(computing)
		v.Reasons = append(v.Reasons, "A task that computes keeps its worker. More urgent ones begin only where it forks, polls or ends.")
	default:
		v.Kind = "slow"
		v.Reasons = append(v.Reasons, "With more than 1,000 goroutines, their stacks are not looked at. Pool.Dump does, up to 10,000.")
	}
	return v
}

// whereabouts returns where the tasks and calls of a look wait, as "chan receive, channel.go:11", and where others compute.
func whereabouts(l event.Look) (blocked, computing []string) {
	note := func(at string) {
		switch wait, line := waitAndLine(at); {
		case wait != "":
			blocked = append(blocked, wait+", "+line)
		case line != "":
			computing = append(computing, line)
		}
	}
	for _, w := range l.Workers {
		if !strings.HasPrefix(w.Doing, "waits") { // for what another worker has
			note(w.At)
		}
	}
	for _, t := range l.InPlace {
		note(t.At)
	}
	return blocked, computing
}

// whereForm is what a look says of where code is: "chan receive for 2 minutes at main.f f.go:3", or "at main.f f.go:3".
var whereForm = regexp.MustCompile(`^(?:(.*?)(?: for \d+ minutes?)? )?at \S+ (\S+:\d+)$`)

// waitAndLine returns what code waits for, or "", and its file and line.
func waitAndLine(at string) (wait, line string) {
	if m := whereForm.FindStringSubmatch(at); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// most returns the place that is there most often, and how many others there are.
func most(places []string) string {
	times := map[string]int{}
	for _, p := range places {
		times[p]++
	}
	all := slices.Clone(places)
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	if len(all) == 1 {
		return all[0]
	}
	return fmt.Sprintf("%s and %s", all[0], tell.Count(len(all)-1, "other place"))
}

// backlog tells that the queue grows: in the second half of the window it was never as short as in the first.
func (j *judge) backlog(s filch.Stats) (v verdict, grows bool) {
	first := j.past[0]
	took := j.past[len(j.past)-1].at.Sub(first.at)
	growth := float64(s.Tasks.Queued-first.stats.Tasks.Queued) / max(took.Seconds(), 1e-9)
	if took < least || s.Tasks.Queued < 2*s.Workers {
		return v, false
	}
	longest := 0
	for i, m := range j.past {
		if i < len(j.past)/2 {
			longest = max(longest, m.stats.Tasks.Queued)
		} else if m.stats.Tasks.Queued <= longest {
			return v, false
		}
	}
	done := j.rate(func(s filch.Stats) int64 { return s.Tasks.Done })
	return verdict{"slow", fmt.Sprintf("%s, backlog of %s grows by %s/s", working(s), thousands(int64(s.Tasks.Queued)), decimals(growth)),
		[]string{fmt.Sprintf("%s tasks come each second, and %s end.", decimals(done+growth), decimals(done)),
			"WithQueueLimit bounds the queue: submitters then wait, or are refused."}}, true
}

// rate returns how much a figure grew in the window, a second.
func (j *judge) rate(of func(filch.Stats) int64) float64 {
	first, last := j.past[0], j.past[len(j.past)-1]
	took := last.at.Sub(first.at)
	if took <= 0 {
		return 0
	}
	return float64(of(last.stats)-of(first.stats)) / took.Seconds()
}

// well is the verdict of a pool with which nothing is the matter.
func (j *judge) well(s filch.Stats) verdict {
	var what []string
	if n := j.rate(func(s filch.Stats) int64 { return s.Tasks.Done }); n > 0 {
		what = append(what, decimals(n)+" tasks/s")
	}
	if n := j.rate(func(s filch.Stats) int64 { return s.Published }); n > 0 && len(what) == 0 {
		what = append(what, decimals(n)+" forks published/s")
	}
	if s.Tasks.Queued > 0 {
		what = append(what, thousands(int64(s.Tasks.Queued))+" queued")
	}
	if s.Tasks.Held > 0 {
		what = append(what, thousands(int64(s.Tasks.Held))+" held")
	}
	busy := slices.ContainsFunc(j.past, func(m moment) bool { return m.stats.Busy > 0 })
	if !busy && s.Tasks.Running == 0 && len(what) == 0 {
		return verdict{"idle", "idle", []string{"Nothing runs, and nothing is queued."}}
	}
	reason := "Nothing is the matter."
	if s.Tasks.Held > 0 {
		reason = "Held tasks come after others, or wait for a slot of a Subpool."
	}
	return verdict{"busy", strings.Join(append([]string{"busy"}, what...), ", "), []string{reason}}
}

// decimals shows a rate: 1,200 or 3.4.
func decimals(x float64) string {
	if x < 9.95 {
		return fmt.Sprintf("%.1f", x)
	}
	return thousands(int64(x + .5))
}

// thousands sets n apart by thousands.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
