package engine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
)

// procs is how many goroutines can run at once on this machine. To ask for GOMAXPROCS takes a lock of
// the runtime, which is too much at the end of each search.
var procs = runtime.NumCPU()

// budget is the word of a policy.Search. Workers that end a search write it; all load it.
type budget struct{ word atomic.Int64 }

// count counts a search and the work before it, and returns what may be spent then.
func (b *budget) count(now, searched, worth int64, searchers int) policy.Search {
	for {
		old := b.word.Load()
		s := policy.Search(old).Count(now, searched, worth, searchers)
		if b.word.CompareAndSwap(old, int64(s)) {
			return s
		}
	}
}

// left returns for how long a worker may search.
func (b *budget) left(now int64) int64 { return policy.Search(b.word.Load()).Left(now) }

// patience is the word of a policy.Patience, and when a worker last went to rest. Workers that end a search in vain write both, and
// who wakes one writes the first. A change that is lost makes a search a little longer or shorter, so all are loads and stores.
type patience struct {
	word   atomic.Int64
	rested atomic.Int64
}

func (t *patience) left() int64 { return t.word.Load() }

// vain counts a search that found nothing by the time now.
func (t *patience) vain(now int64) {
	t.word.Store(int64(policy.Patience(t.word.Load()).Vain()))
	t.rested.Store(now)
}

// woken counts a wake-up.
func (t *patience) woken() {
	old := policy.Patience(t.word.Load())
	if p := old.Woken(clock.Now() - t.rested.Load()); p != old {
		t.word.Store(int64(p))
	}
}

// spending is what a worker spends its time on. Only its owner touches it.
type spending struct {
	began int64 // when the search began that is under way, or else what it does since it found something
	worth int64 // of what it did before, for the budget
}

// countWork counts what was done since something was found.
func (s *spending) countWork(now int64) {
	s.worth += policy.Worth(now - s.began)
	s.began = now
}

// countSteal is countWork at a steal, and now and then adds up: a worker that finds work without
// a search may do so for long.
func (w *Worker) countSteal(now int64) {
	if w.searching {
		return
	}
	if w.countWork(now); max(w.worth, -w.worth) > policy.SpinTime/10 {
		w.countSearch(false)
	}
}

// countSearch counts the search of w, which ends, and the work before it. One in vain costs no less for patience that is short:
// the wake-up before it has its cost too.
func (w *Worker) countSearch(vain bool) {
	p := w.pool
	now := clock.Now()
	if vain && now > w.began {
		p.patience.vain(now)
		w.began = min(w.began, now-policy.SpinTime)
	}
	s := p.budget.count(now, now-w.began, w.worth, policy.Searchers(int(p.limit.Load()), procs))
	w.began, w.worth = now, 0
	if s.Left(now) == 0 {
		p.hold()
	}
}

// hold keeps workers from being woken for forks for a while, and idle ones from asking for
// them. Tasks wake workers all the same. In a bubble of testing/synctest searching costs nothing, and
// a timer may never fire. With strict Checks, work takes another time than it is worth.
func (p *Pool) hold() {
	if !p.BusyPoll && !p.strict() && !clock.InBubble() && p.held.CompareAndSwap(false, true) {
		time.AfterFunc(policy.HoldTime, p.release)
	}
}

// IsHeld reports whether that is so now.
func (p *Pool) IsHeld() bool { return p.held.Load() }

// release ends that, and sees to forks that were published meanwhile.
func (p *Pool) release() {
	p.held.Store(false) // (W17) then look for forks
	p.MatchWork()
}
