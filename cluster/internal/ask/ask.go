// Package ask has the questions of a node to the servers that nobody waits for: what is to be done with the answer is given
// with the question.
package ask

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Questions are those that the servers have not answered. All answers come to one subscription, whose
// goroutine passes them on. So an open question costs no goroutine, no timer and no context, as a request of the library
// does, and there are two of them for each task.
type Questions struct {
	nc    *nats.Conn
	inbox string // what the address of each answer begins with

	mu     sync.Mutex
	last   uint64
	open   map[uint64]question
	closed error // what is answered since Run has ended
}

// question is one of them.
type question struct {
	since time.Time
	// answered gets the answer, or why there is none. It must not block.
	answered func(data []byte, err error)
}

// ErrNoAnswer is why there is no answer when the servers have not answered in time.
var ErrNoAnswer = errors.New("the servers have not answered in time")

// Listen receives answers until ctx ends.
func (a *Questions) Listen(ctx context.Context, nc *nats.Conn) error {
	a.nc, a.inbox, a.open = nc, nc.NewInbox()+".", map[uint64]question{}
	sub, err := nc.Subscribe(a.inbox+"*", a.hear)
	if err == nil {
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// Ask sends m, and calls answered once: with the answer, or with an error when there is none. It does not wait.
func (a *Questions) Ask(m *nats.Msg, answered func(data []byte, err error)) {
	a.mu.Lock()
	if err := a.closed; err != nil {
		a.mu.Unlock()
		answered(nil, err)
		return
	}
	a.last++
	number := a.last
	a.open[number] = question{time.Now(), answered}
	a.mu.Unlock()
	m.Reply = a.inbox + strconv.FormatUint(number, 36)
	if err := a.nc.PublishMsg(m); err != nil {
		a.end(number, nil, err)
	}
}

// hear passes on an answer.
func (a *Questions) hear(m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.inbox), 36, 64)
	if err != nil {
		return
	}
	if status := m.Header.Get("Status"); status == "503" {
		a.end(number, nil, nats.ErrNoResponders)
		return
	}
	a.end(number, m.Data, nil)
}

// end ends a question, unless that has been done.
func (a *Questions) end(number uint64, data []byte, err error) {
	a.mu.Lock()
	q, ok := a.open[number]
	delete(a.open, number)
	a.mu.Unlock()
	if ok {
		q.answered(data, err)
	}
}

// Run ends questions that are not answered within a time, until ctx ends, and then all of them, and later ones at once, with
// the cause of that.
func (a *Questions) Run(ctx context.Context, within time.Duration) {
	tick := time.NewTicker(within / 4)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			a.endBefore(now.Add(-within), ErrNoAnswer)
		case <-ctx.Done():
			a.close(context.Cause(ctx))
			return
		}
	}
}

// endBefore ends the questions from before a time.
func (a *Questions) endBefore(t time.Time, err error) {
	var old []question
	a.mu.Lock()
	for number, q := range a.open {
		if q.since.Before(t) {
			old = append(old, q)
			delete(a.open, number)
		}
	}
	a.mu.Unlock()
	for _, q := range old {
		q.answered(nil, err)
	}
}

// close ends all questions with an error. Later ones end at once.
func (a *Questions) close(err error) {
	a.mu.Lock()
	all := a.open
	a.open, a.closed = nil, err
	a.mu.Unlock()
	for _, q := range all {
		q.answered(nil, err)
	}
}
