// Package poll waits for what nobody tells, such as the state of a server or a goroutine that ends, in tests. What is told is waited
// for by a channel, and what takes time by package testing/synctest.
package poll

import (
	"runtime"
	"testing"
	"time"
)

// Ask asks until it is so, for at most some time, and returns what was said last.
func Ask(most time.Duration, ask func() (so bool, is any)) (so bool, is any) {
	for deadline := time.Now().Add(most); ; time.Sleep(time.Millisecond) {
		if so, is = ask(); so || time.Now().After(deadline) {
			return so, is
		}
	}
}

// Until asks until it is so, and ends the test with what was said last if that takes too long. what says what is waited for.
func Until(t testing.TB, most time.Duration, what string, ask func() (so bool, is any)) {
	t.Helper()
	if so, is := Ask(most, ask); !so {
		t.Fatalf("in vain: %s: %+v", what, is)
	}
}

// Patiently asks until it is so, for as long as the whole run may take by -timeout: no machine is too slow. When that
// is nearly over, it ends the test with what was said last and the stacks of all goroutines. Other goroutines run between
// two questions.
func Patiently(t *testing.T, what string, ask func() (so bool, is any)) {
	t.Helper()
	for {
		so, is := ask()
		if so {
			return
		}
		if Late(t) {
			t.Fatalf("in vain: %s: %+v\n%s", what, is, stacks())
		}
		runtime.Gosched()
	}
}

// End runs f, which may hang, on a goroutine of its own, and waits for it as Patiently does.
func End(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	var late <-chan time.Time
	if end, ok := t.Deadline(); ok {
		late = time.After(time.Until(end) - margin)
	}
	select {
	case <-done:
	case <-late:
		t.Fatalf("in vain: %s\n%s", what, stacks())
	}
}

const margin = 10 * time.Second // in which other tests can still be told of

// Late reports whether the time of the whole run is nearly over.
func Late(t *testing.T) bool {
	end, ok := t.Deadline()
	return ok && time.Until(end) < margin
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}
