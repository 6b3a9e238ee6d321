package cluster

import (
	"context"
	"sync"
	"time"
)

// limited is what a lane with a limit or keys knows of the tasks that its consumer may give away. A lane without knows nothing of it.
//
// A server does not answer a request that is not to wait while the consumer has given away as many tasks as it may. It keeps the request
// until it can give it one. So such a lane's requests lapse after onceFor; it asks for no more than what its own tasks leave of the
// limit; and one that was in vain is not repeated soon, since it has cost its places that time.
type limited struct {
	mu   sync.Mutex
	own  int                // tasks of the lane on this node that are not settled
	more bool               // the last task has come with the word that more wait, and the last request has got all that it asked for
	vain bool               // the last request has got none
	wake context.CancelFunc // ends the wait for a turn; nil while there is no such wait
}

const (
	// onceFor is how long a request lasts that is not to wait. The servers need less to answer it.
	onceFor = 5 * time.Millisecond
	// A lane whose last request was in vain has its next turn after vainTurns times the usual time, and not later than after probeFor.
	vainTurns = 10
)

// turn returns after what time the lane has its turn, if no place is idle before.
func (l *lane) turn() time.Duration {
	after := turnOf(l.node.fetching.Load())
	if l.pending == 0 {
		return after
	}
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	if l.limited.vain {
		return min(vainTurns*after, probeFor)
	}
	return after
}

// allowed returns for how many tasks the lane may ask, of most.
func (l *lane) allowed(most int) int {
	if l.pending == 0 {
		return most
	}
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	return max(0, min(most, l.pending-l.limited.own))
}

// worthwhile reports whether the lane should ask for more, after it has got some.
func (l *lane) worthwhile() bool {
	if l.pending == 0 {
		return true
	}
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	return l.limited.more && l.limited.own < l.pending
}

// ask asks for n tasks, for which there are places and slots, and does not wait until there are some.
func (l *lane) ask(ctx context.Context, n int) (got int, err error) {
	if l.pending == 0 {
		return l.pull.Pull(ctx, n, 0, l.start)
	}
	got, err = l.pull.Once(ctx, n, onceFor, l.start)
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	l.limited.vain = got == 0
	if got < n {
		l.limited.more = false
	}
	return got, err
}

// untilLeft has cancel called when the lane may have a next task, since one of its own has ended. What it returns ends that.
func (l *lane) untilLeft(cancel context.CancelFunc) (stop func()) {
	if l.pending == 0 {
		return func() {}
	}
	r := &l.limited
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake = cancel
	if r.more && r.own < l.pending { // it has ended since the lane has looked
		cancel()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wake = nil
	}
}

// entered notes that a task of the lane is here.
func (l *lane) entered() {
	if l.pending == 0 {
		return
	}
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	l.limited.own++
}

// follow notes whether a task came with the word that more wait.
func (l *lane) follow(more bool) {
	if l.pending == 0 {
		return
	}
	l.limited.mu.Lock()
	defer l.limited.mu.Unlock()
	l.limited.more, l.limited.vain = more, false
}

// left notes that a task of the lane is here no more.
func (l *lane) left() {
	l.node.ran.Done()
	if l.pending == 0 {
		return
	}
	r := &l.limited
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own--; r.more && r.wake != nil {
		r.wake()
	}
}
