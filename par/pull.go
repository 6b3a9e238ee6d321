package par

import (
	"iter"
	"runtime"

	"github.com/filch-go/filch/internal/affinity"
)

// pull is iter.Pull for a next that several goroutines call in turn. Go ends the program if one of them is locked to a
// thread, as workers are of a pool with WithAffinity. Where there may be such workers, each call is made on a goroutine of its own.
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

// aside calls f on a goroutine of its own, which is locked to no thread, and panics or exits as f does.
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
