package par

import (
	"iter"
	"runtime"

	"github.com/filch-go/filch/internal/affinity"
)

// pull is iter.Pull for a next that several goroutines call one after the other. Go ends the program if one of them is
// locked to a thread, as are the workers of a pool with WithAffinity. If such workers may exist, each call runs on a
// new goroutine.
func pull[T any](seq iter.Seq[T]) (next func() (T, bool), stop func()) {
	if !affinity.InUse() {
		return iter.Pull(seq)
	}
	var step func() (T, bool)
	var end func()
	aside(func() { step, end = iter.Pull(seq) })
	next = func() (v T, ok bool) {
		aside(func() { v, ok = step() })
		return v, ok
	}
	return next, func() { aside(end) }
}

// aside calls f on a new goroutine, which is locked to no thread, and panics or exits as f does.
func aside(f func()) {
	var failed any
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { failed = recover() }()
		f()
		returned = true
	}()
	<-done
	if failed != nil {
		panic(failed)
	}
	if !returned {
		runtime.Goexit()
	}
}
