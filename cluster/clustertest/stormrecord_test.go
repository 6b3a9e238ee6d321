package clustertest_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// run is one attempt at a task, as its process has written it. Times are in ns, by the clock of the machine.
type run struct {
	handler, process string
	attempt          int
	stored           int64 // when its message was stored
	begin            int64
	end              int64  // 0 if its process ended before
	how              string // it has ended
}

// ack is a task that was acknowledged.
type ack struct {
	kind   string
	id     string
	n      int
	called int64 // when Submit was called first
	ends   string
	more   string
}

// record is what all processes of a storm have written.
type record struct {
	t       testing.TB
	runs    map[string][]*run // by ID, in the order in which they began
	acks    map[string][]ack  // by kind
	dags    []string
	cancel  map[string]bool // tasks that are to be canceled, and whether they are
	closed  map[string]bool // batches
	wrong   []string        // what a process has found to be wrong
	told    int
	slowest time.Duration // from when a task was acknowledged until its result was told
}

func newRecord(t testing.TB) *record {
	return &record{t: t, runs: map[string][]*run{}, acks: map[string][]ack{}, closed: map[string]bool{}, cancel: map[string]bool{}}
}

// read reads what a process has written.
func (r *record) read(process, out string) {
	last := map[string]*run{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case !strings.HasSuffix(line, "\n"): // it was killed
		case len(f) == 6 && f[0] == "ran":
			last[f[1]] = &run{handler: f[2], process: process, attempt: int(number(f[3])), stored: number(f[4]), begin: number(f[5])}
			r.runs[f[1]] = append(r.runs[f[1]], last[f[1]])
		case len(f) == 4 && f[0] == "ended":
			last[f[1]].end, last[f[1]].how = number(f[2]), f[3]
		case len(f) == 7 && f[0] == "stored":
			r.acks[f[1]] = append(r.acks[f[1]], ack{kind: f[1], id: f[2], n: int(number(f[3])), called: number(f[4]), ends: f[5], more: f[6][1:]})
		case len(f) == 2 && f[0] == "dag":
			r.dags = append(r.dags, f[1])
		case len(f) == 2 && (f[0] == "cancel" || f[0] == "canceled"):
			r.cancel[f[1]] = f[0] == "canceled"
		case len(f) == 2 && f[0] == "unknown":
			delete(r.cancel, f[1])
		case len(f) == 2 && f[0] == "closed":
			r.closed[f[1]] = true
		case len(f) == 3 && f[0] == "told":
			r.told++
			r.slowest = max(r.slowest, time.Duration(number(f[1]))*time.Millisecond)
		case len(f) > 0 && f[0] == "wrong":
			r.wrong = append(r.wrong, process+" "+line)
		}
	}
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err) // a program of this package has written it
	}
	return n
}

// sort orders the runs.
func (r *record) sort() {
	for _, runs := range r.runs {
		slices.SortFunc(runs, func(a, b *run) int { return cmp.Compare(a.begin, b.begin) })
	}
}

// begun returns when a task began first, and false if it never did.
func (r *record) begun(id string) (int64, bool) {
	if len(r.runs[id]) == 0 {
		return 0, false
	}
	return r.runs[id][0].begin, true
}

// ended returns when a task ended first as how says, and false if it never did.
func (r *record) ended(id, how string) (first int64, ok bool) {
	for _, run := range r.runs[id] {
		if run.how == how && (!ok || run.end < first) {
			first, ok = run.end, true
		}
	}
	return first, ok
}

// after checks that a task never began before another had ended.
func (r *record) after(id, dep, how string) {
	begun, ran := r.begun(id)
	end, ok := r.ended(dep, how)
	if ran && (!ok || begun < end) {
		r.t.Errorf("%s began %v before %s had ended: %s", id, time.Duration(end-begun), dep, r.story(id, dep))
	}
}

// story is all that is known of the runs of tasks, for errors.
func (r *record) story(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		for _, run := range r.runs[id] {
			b.WriteString("\n\t" + id + " on " + run.process + ", attempt " + strconv.Itoa(run.attempt) + ", stored " + clockTime(run.stored) + ", began " + clockTime(run.begin) + ", ended " + clockTime(run.end) + " " + run.how)
		}
	}
	return b.String()
}

func clockTime(ns int64) string {
	if ns == 0 {
		return "never"
	}
	return time.Unix(0, ns).UTC().Format("15:04:05.000000")
}

// judgeAll checks what holds for tasks of all kinds, and returns how many runs were repeated.
func (r *record) judgeAll() (repeated int) {
	for _, line := range r.wrong {
		r.t.Error(line)
	}
	for kind, acks := range r.acks {
		for _, a := range acks {
			if r.mayWait(a) {
				continue
			}
			_, well := r.ended(a.id, endedWell)
			_, badly := r.ended(a.id, endedBadly)
			switch {
			case a.ends == endsUnrun && len(r.runs[a.id]) > 0:
				r.t.Error(kind, "ran, though what it depends on had failed:", r.story(a.id))
			case a.ends == endedBadly && !badly, (a.ends == endedWell || a.ends == endsUnsaid) && !well:
				r.t.Error(kind, "acknowledged, and never run to its end:", a.id, r.story(a.id))
			}
		}
	}
	for id, runs := range r.runs {
		for _, run := range runs[1:] {
			if run.stored != runs[0].stored {
				r.t.Error("stored twice:", r.story(id))
				break
			}
		}
		tried := 0
		for _, run := range runs {
			if run.how == endedAgain {
				tried++
			}
		}
		repeated += len(runs) - 1 - min(tried, len(runs)-1)
	}
	return repeated
}

// mayWait reports whether a task may wait for ever, since its submitter died before it closed the batch.
func (r *record) mayWait(a ack) bool { return a.kind == "batch" && !r.closed[a.more] }

// turns checks that of some tasks no more than most are at once between their first begin and their first good end.
func (r *record) turns(what string, most int, ids map[string]bool) {
	type turn struct {
		at   int64
		id   string
		more int
	}
	var turns []turn
	for id := range ids {
		begin, ran := r.begun(id)
		end, ok := r.ended(id, endedWell)
		if ran && ok {
			turns = append(turns, turn{begin, id, 1}, turn{end, id, -1})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.at, b.at), a.more-b.more) })
	at := map[string]bool{}
	for _, turn := range turns {
		if delete(at, turn.id); turn.more > 0 {
			at[turn.id] = true
		}
		if len(at) > most {
			var all []string
			for id := range at {
				all = append(all, id)
			}
			r.t.Errorf("%s: %d at once, and %d may be: %s", what, len(at), most, r.story(all...))
			return
		}
	}
}
