package clustertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/internal/poll"
)

// patience is how long a test waits for what is to come. Servers that are killed take seconds until they answer again, and slow
// machines longer.
const patience = 25 * time.Second

// eventually waits until ok returns true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	poll.Until(t, patience, what, func() (bool, any) { return ok(), nil })
}

// until waits until the consumer of a lane is in a state.
func until(t testing.TB, js jetstream.JetStream, consumer string, is func(*jetstream.ConsumerInfo) bool) {
	t.Helper()
	untilConsumer(t, js, "filch_work", consumer, is)
}

func untilConsumer(t testing.TB, js jetstream.JetStream, stream, consumer string, is func(*jetstream.ConsumerInfo) bool) {
	t.Helper()
	so, last := poll.Ask(patience, func() (bool, any) {
		c, err := js.Consumer(t.Context(), stream, consumer)
		if err != nil {
			return false, err
		}
		return is(c.CachedInfo()), *c.CachedInfo()
	})
	if !so {
		t.Fatalf("the consumer %s is not in the state: %+v", consumer, last)
	}
}

// untilStream waits until as many messages of a stream as is wanted have a subject.
func untilStream(t testing.TB, js jetstream.JetStream, stream, subject string, is func(int) bool) {
	t.Helper()
	so, last := poll.Ask(patience, func() (bool, any) {
		n, err := countOf(t.Context(), js, stream, subject)
		if err != nil {
			return false, err
		}
		return is(n), n
	})
	if !so {
		t.Fatalf("messages of %s in the stream %s: %v", subject, stream, last)
	}
}

// countOf returns how many messages of a stream have a subject.
func countOf(ctx context.Context, js jetstream.JetStream, stream, subject string) (n int, err error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return 0, err
	}
	for _, count := range info.State.Subjects {
		n += int(count)
	}
	return n, nil
}

// empty waits until the stream of tasks is empty.
func empty(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	emptyWithin(t, js, patience)
}

func emptyWithin(t testing.TB, js jetstream.JetStream, most time.Duration) {
	t.Helper()
	so, last := poll.Ask(most, func() (bool, any) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		s, err := js.Stream(ctx, "filch_work")
		if err != nil {
			return false, err
		}
		return s.CachedInfo().State.Msgs == 0, s.CachedInfo().State
	})
	if !so {
		t.Fatalf("tasks are stuck: %+v%s", last, consumers(t, js))
	}
}

// consumers says what the consumers of tasks are like, for errors.
func consumers(t testing.TB, js jetstream.JetStream) string {
	var b strings.Builder
	for _, name := range []string{"filch_work", "filch_later"} {
		st, err := js.Stream(t.Context(), name)
		if err != nil {
			return err.Error()
		}
		for c := range st.ListConsumers(t.Context()).Info() {
			fmt.Fprintf(&b, "\n\t%s: delivered to %d, acknowledged to %d, %d wait, %d taken, %d again, %d requests", c.Name, c.Delivered.Stream, c.AckFloor.Stream, c.NumPending, c.NumAckPending, c.NumRedelivered, c.NumWaiting)
		}
	}
	return b.String()
}

// lines keeps what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // of capacity 1: there is more than before
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// until waits until a text was logged. One goroutine may wait at a time.
func (l *lines) until(t testing.TB, text string) {
	t.Helper()
	for late := time.After(patience); !strings.Contains(l.String(), text); {
		select {
		case <-l.more:
		case <-late:
			t.Fatalf("%q was not logged: %s", text, l)
		}
	}
}
