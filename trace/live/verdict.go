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
	patience = 4 * time.Second  // for which nothing may begin or end before that is told,
	gaps     = 3                // or so many times the longest time that nothing did
	waiting  = 30 * time.Second // for which tasks may wait where the pool sees it
	window   = 10 * time.Second // in which a queue must grow
	recently = 5 * time.Second  // over which rates are taken
)

// A judge finds verdicts from what a pool says of itself.
type judge struct {
	past    []moment      // of the window, the oldest first
	begun   time.Time     // when the first was
	moved   time.Time     // when something was seen to begin or end, or zero
	gap     time.Duration // the longest between two such times
	blocked int           // in how many verdicts in a row no worker computed
}

// A moment is what a pool said of itself.
type moment struct {
	at    time.Time
	stats filch.Stats
}

// note takes in what the pool says now.
func (j *judge) note(now time.Time, s filch.Stats) {
	if n := len(j.past); n == 0 {
		j.begun = now
	} else if moves(j.past[n-1].stats, s) {
		if !j.moved.IsZero() && s.Tasks.Running+s.Tasks.Queued > 0 {
			j.gap = max(j.gap, now.Sub(j.moved))
		}
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
	return max(d, now.Sub(j.begun))
}

// judge returns the worst that can be said of what was noted, and of the latest look.
func (j *judge) judge(l event.Look) verdict {
	s, still := j.past[len(j.past)-1].stats, j.still(l)
	w := whereabouts(l)
	if j.blocked++; len(w.computing) > 0 {
		j.blocked = 0
	}
	stands := still >= max(patience, gaps*j.gap)
	switch {
	case len(l.Circles) > 0:
		return circle(l)
	case s.Paused && s.Tasks.Queued > 0:
		return verdict{"slow", fmt.Sprintf("paused, %s queued", tell.Count(s.Tasks.Queued, "task")), []string{"Pool.Pause was called, and Resume was not."}}
	case stands && len(w.blocked)+len(w.computing) > 0 && s.Tasks.Queued+s.Tasks.Waiting > 0, stands && len(w.blocked) > 0 && len(w.computing) == 0, stands && unseen(l):
		return j.nothingFinishes(s, still, w)
	case still >= waiting && len(w.waits) > 0 && s.Tasks.Running > 0:
		return verdict{"slow", fmt.Sprintf("%s begun, nothing has finished for at least %v: %s", tell.Count(s.Tasks.Running, "task"), still.Truncate(time.Second), most(w.waits)),
			[]string{"The tasks wait where the pool sees it: in filch.Blocking, or for a Future, a Promise or a Group. They keep no worker from others. Does what they wait for ever come?"}}
	case stands && s.Tasks.Held > 0 && s.Tasks.Running+s.Tasks.Queued+s.Busy == 0:
		return held(s, l)
	case 2*w.long >= s.Workers && w.long > 1:
		return verdict{"slow", fmt.Sprintf("%d of %s wait for at least %v: %s", w.long, tell.Count(s.Workers, "worker"), patience, most(w.blocked)), []string{unseenWaits}}
	}
	if v, grows := j.backlog(s); grows {
		return v
	}
	if j.moved.IsZero() && s.Tasks.Running+s.Tasks.Queued > 0 && still < patience {
		return verdict{"idle", "watching", []string{"Nothing has begun or ended since the page was opened, some seconds ago."}}
	}
	return j.well(s)
}

// held tells of tasks that are not queued yet while nothing runs that could let them.
func held(s filch.Stats, l event.Look) verdict {
	v := verdict{"slow", fmt.Sprintf("%s held, and nothing runs", tell.Count(s.Tasks.Held, "task")), nil}
	for _, h := range l.Held[:min(len(l.Held), 3)] {
		v.Reasons = append(v.Reasons, h.Task+" "+h.Why)
	}
	if len(l.Held) > 0 {
		v.Text += ": " + v.Reasons[0]
	}
	v.Reasons = append(v.Reasons, "Held tasks come after others, or wait for a slot of a Subpool.")
	return v
}

// moves reports whether something was begun or ended between two moments: a task, a fork, or the work of a goroutine in a slot.
func moves(a, b filch.Stats) bool {
	return a.Tasks.Started != b.Tasks.Started || a.Tasks.Done != b.Tasks.Done || a.Tasks.Cancelled != b.Tasks.Cancelled ||
		a.Published != b.Published || a.Steals != b.Steals || a.Wakes != b.Wakes
}

// working says how many workers are busy.
func working(s filch.Stats) string {
	if more := extra(s); more > 0 {
		return fmt.Sprintf("%s busy (%d extra, because workers are blocked)", tell.Count(s.Busy, "worker"), more)
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

// unseenWaits says what to do about waits that the pool does not see.
const unseenWaits = "The tasks wait for something that the pool does not see, such as a channel, a lock or a limit of their own. " +
	"A wait by a Future or a Group, or in filch.Blocking, lets other tasks run meanwhile."

// nothingFinishes tells that nothing has begun or ended for some time.
func (j *judge) nothingFinishes(s filch.Stats, still time.Duration, w places) verdict {
	what := []string{working(s)}
	if n := s.Tasks.Queued; n > 0 {
		what = append(what, fmt.Sprintf("%d queued", n))
	} else if n := s.Tasks.Running; n > 0 {
		what = append(what, tell.Count(n, "task")+" begun")
	}
	if n := s.Tasks.Waiting; n > 0 {
		what = append(what, tell.Count(n, "submitter")+" waiting for room")
	}
	v := verdict{"slow", fmt.Sprintf("%s, nothing has finished for at least %v", strings.Join(what, ", "), still.Truncate(time.Second)), nil}
	// Without others that want to run, the tasks may wait for what is slow; and one look may find a worker in a short sleep.
	if s.Tasks.Queued+s.Tasks.Waiting+max(0, extra(s)) > 0 && j.blocked > 1 {
		v.Kind = "stuck"
	}
	switch {
	case len(w.computing) > 0:
		v.Text += ": computing, " + most(w.computing)
		v.Reasons = append(v.Reasons, "A task that computes keeps its worker. More urgent ones begin only where it forks, polls or ends.")
	case len(w.blocked) > 0:
		v.Text += ": " + most(w.blocked)
		v.Reasons = append(v.Reasons, unseenWaits)
	default:
		v.Reasons = append(v.Reasons, "With more than 1,000 goroutines, their stacks are not looked at. Pool.Dump does, up to 10,000.")
	}
	return v
}

// unseen reports whether tasks run on workers, and no stack says where one is.
func unseen(l event.Look) (some bool) {
	for _, w := range l.Workers {
		if w.At != "" {
			return false
		}
		some = some || w.Task != ""
	}
	return some
}

// places are where the tasks and calls of a look are, as "chan receive, channel.go:11" or "leaf.go:17".
type places struct {
	blocked   []string // in a wait that the pool does not see,
	long      int      // of these, for which that has lasted
	waits     []string // or in one that it sees, without a slot,
	computing []string // or in none
}

func whereabouts(l event.Look) (p places) {
	note := func(at string, lent bool) {
		wait, line := waitAndLine(at)
		switch {
		case line == "":
		case lent:
			p.waits = append(p.waits, strings.TrimPrefix(wait+", "+line, ", "))
		case wait != "":
			p.blocked = append(p.blocked, wait+", "+line)
		default:
			p.computing = append(p.computing, line)
		}
	}
	for _, w := range l.Workers {
		if strings.HasPrefix(w.Doing, "waits") { // for what another worker has
			continue
		}
		n := len(p.blocked)
		if note(w.At, w.Lent); len(p.blocked) > n && w.For >= patience {
			p.long++
		}
	}
	for _, t := range l.InPlace {
		note(t.At, false)
	}
	return p
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

// backlog tells that the queue grows: it was longer in each third of the window than in the one before, and does not shrink at its end.
func (j *judge) backlog(s filch.Stats) (v verdict, grows bool) {
	n := len(j.past)
	if n < 3 || j.past[n-1].at.Sub(j.past[0].at) < window/2 || s.Tasks.Queued < 2*s.Workers {
		return v, false
	}
	mean := func(from, to int) (queued, at float64) {
		for _, m := range j.past[from:to] {
			queued += float64(m.stats.Tasks.Queued) / float64(to-from)
			at += m.at.Sub(j.past[0].at).Seconds() / float64(to-from)
		}
		return queued, at
	}
	first, begin := mean(0, n/3)
	second, _ := mean(n/3, 2*n/3)
	third, end := mean(2*n/3, n)
	growth := (third - first) / (end - begin)
	if first >= second || second >= third || growth < 1 || s.Tasks.Queued < j.past[2*n/3].stats.Tasks.Queued {
		return v, false
	}
	done := j.rate(func(s filch.Stats) int64 { return s.Tasks.Done })
	return verdict{"slow", fmt.Sprintf("%s, backlog of %s grows by %s/s", working(s), thousands(int64(s.Tasks.Queued)), decimals(growth)),
		[]string{fmt.Sprintf("%s tasks come each second, and %s end.", decimals(done+growth), decimals(done)),
			"WithQueueLimit bounds the queue: submitters then wait, or are refused."}}, true
}

// rate returns how much a figure grew in the last seconds, a second.
func (j *judge) rate(of func(filch.Stats) int64) float64 {
	last := j.past[len(j.past)-1]
	first := last
	for i := len(j.past) - 1; i >= 0 && last.at.Sub(j.past[i].at) <= recently; i-- {
		first = j.past[i]
	}
	if took := last.at.Sub(first.at); took > 0 {
		return float64(of(last.stats)-of(first.stats)) / took.Seconds()
	}
	return 0
}

// well is the verdict of a pool that is neither stuck nor late: what it does, and how much of it fails.
func (j *judge) well(s filch.Stats) verdict {
	if s.Busy+s.Tasks.Running+s.Tasks.Queued+s.Tasks.Held == 0 && (j.moved.IsZero() || j.past[len(j.past)-1].at.Sub(j.moved) >= time.Second) {
		return verdict{"idle", "idle", []string{"Nothing runs, and nothing is queued."}}
	}
	v := verdict{"busy", "busy", nil}
	done := j.rate(func(s filch.Stats) int64 { return s.Tasks.Done })
	if done > 0 {
		v.Text += ", " + decimals(done) + " tasks/s"
	} else if n := j.rate(func(s filch.Stats) int64 { return s.Published }); n > 0 {
		v.Text += ", " + decimals(n) + " forks published/s"
	}
	if n := s.Tasks.Held; n > 0 {
		v.Text += ", " + thousands(int64(n)) + " held"
		v.Reasons = append(v.Reasons, "Held tasks come after others, or wait for a slot of a Subpool.")
	}
	if failed := j.rate(func(s filch.Stats) int64 { return s.Tasks.Failed }); failed > 0 && done > 0 {
		v.Text += fmt.Sprintf(", %.0f%% fail", 100*failed/done)
		if failed > done/10 {
			v.Kind = "slow"
		}
		v.Reasons = append(v.Reasons, fmt.Sprintf("Since the pool was made, %d tasks have failed.", s.Tasks.Failed))
	}
	if panicked := j.rate(func(s filch.Stats) int64 { return s.Tasks.Panicked }); panicked > 0 {
		v.Kind, v.Text = "slow", v.Text+fmt.Sprintf(", %s panic each second", decimals(panicked))
		v.Reasons = append(v.Reasons, fmt.Sprintf("Since the pool was made, %d tasks have panicked.", s.Tasks.Panicked))
	}
	if v.Reasons == nil {
		v.Reasons = []string{"Nothing is the matter."}
	}
	return v
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
