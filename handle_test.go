package filch

import (
	"strings"
	"testing"
)

// recoveredFrom returns what f panics with, as a string.
func recoveredFrom(f func()) (s string) {
	defer func() { s, _ = recover().(string) }()
	f()
	return ""
}

// A handle names one fork, and none that has its place later.
func TestAHandleNamesOneFork(t *testing.T) {
	f := Frame[int, int]{n: bottom}
	open := func() Fork { f.n++; return f.handle() }
	join := func() { f.n-- }
	place := func(h, want Fork) {
		t.Helper()
		if got := f.position(h); got != want {
			t.Errorf("handle %#x has place %d, not %d", h, got, want)
		}
	}
	taken := func(h Fork, at string) {
		t.Helper()
		if s := recoveredFrom(func() { f.position(h) }); !strings.Contains(s, "Join of fork "+at+", which was joined") {
			t.Errorf("handle %#x: panic %q", h, s)
		}
	}
	place(0, 0) // no handles
	place(-1, -1)
	a, b := open(), open()
	place(0, 0)
	place(-1, -1)
	place(a, bottom+1)
	place(b, bottom+2)
	join()
	c := open()
	place(c, bottom+2)
	taken(b, "2")
	join()
	place(c, bottom+2) // Join tells that it is not open
	place(a, bottom+1)
	join()
	place(a, bottom+1)
	d := open()
	place(d, bottom+1)
	taken(a, "1")
	if a <= 0 || b <= 0 || c <= 0 || d <= 0 {
		t.Errorf("handles are positive: %d %d %d %d", a, b, c, d)
	}
}
