package cluster

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// asks are the questions of a node that the servers have not answered. All answers come to one subscription, whose
// goroutine passes them on. So an open question costs no goroutine, no timer and no context, as a request of the library
// does, and there are two of them for each task.
type asks struct {
	nc    *nats.Conn
	inbox string // what the address of each answer begins with

	mu     sync.Mutex
	last   uint64
	open   map[uint64]ask
	closed bool
}

// ask is a question.
type ask struct {
	since time.Time
	// answered gets the answer, or why there is none. It must not block.
	answered func(data []byte, err error)
}

var errNoAnswer = errors.New("the servers have not answered in time")

// listen receives answers until ctx ends.
func (a *asks) listen(ctx context.Context, nc *nats.Conn) error {
	a.nc, a.inbox, a.open = nc, nc.NewInbox()+".", map[uint64]ask{}
	sub, err := nc.Subscribe(a.inbox+"*", a.hear)
	if err == nil {
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// ask sends m, and calls answered once: with the answer, or with an error when there is none. It does not wait.
func (a *asks) ask(m *nats.Msg, answered func(data []byte, err error)) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		answered(nil, ErrClosed)
		return
	}
	a.last++
	number := a.last
	a.open[number] = ask{time.Now(), answered}
	a.mu.Unlock()
	m.Reply = a.inbox + strconv.FormatUint(number, 36)
	if err := a.nc.PublishMsg(m); err != nil {
		a.end(number, nil, err)
	}
}

// hear passes on an answer.
func (a *asks) hear(m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.inbox), 36, 64)
	if err != nil {
		return
	}
	if status := header(m.Header, "Status"); status == "503" {
		a.end(number, nil, nats.ErrNoResponders)
		return
	}
	a.end(number, m.Data, nil)
}

// end ends a question, unless that has been done.
func (a *asks) end(number uint64, data []byte, err error) {
	a.mu.Lock()
	q, ok := a.open[number]
	delete(a.open, number)
	a.mu.Unlock()
	if ok {
		q.answered(data, err)
	}
}

// run ends questions that are not answered within a time, until ctx ends, and then all of them.
func (a *asks) run(ctx context.Context, within time.Duration) {
	tick := time.NewTicker(within / 4)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			a.endBefore(now.Add(-within), errNoAnswer)
		case <-ctx.Done():
			a.close()
			return
		}
	}
}

// endBefore ends the questions from before a time.
func (a *asks) endBefore(t time.Time, err error) {
	var old []ask
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

// close ends all questions. Later ones end at once.
func (a *asks) close() {
	a.mu.Lock()
	all := a.open
	a.open, a.closed = nil, true
	a.mu.Unlock()
	for _, q := range all {
		q.answered(nil, ErrClosed)
	}
}
