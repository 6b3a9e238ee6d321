// Package poll waits for what nobody tells, such as the state of a server, in tests. What is told is waited for by a channel, and what
// takes time by package testing/synctest.
package poll

import (
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
