package rig

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/filch-go/filch"
)

// SyncBuffer is a buffer for a logger and its reader.
type SyncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds p.
func (b *SyncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns all that was written.
func (b *SyncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Recovered returns what f panics with, as text.
func Recovered(f func()) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// MustPanic fails unless f panics, with want in what it panics with.
func MustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		if r == nil {
			t.Errorf("no panic; want one with %q", want)
			return
		}
		if err, ok := r.(error); ok {
			r = err.Error()
		}
		if s := fmt.Sprint(r); !strings.Contains(s, want) {
			t.Errorf("panic %q; want %q", s, want)
		}
	}()
	f()
}

// Catch returns what f panics with.
func Catch(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// IsClosed reports whether ch is closed.
func IsClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Observer is an Observer of one function.
type Observer func(e filch.Event)

// Observe is that of an Observer.
func (o Observer) Observe(e filch.Event) { o(e) }
