package strand

import (
	"runtime"

	"github.com/filch-go/filch/internal/race"
)

// A child ends where its parent waits as the newest continuation, and then nobody else has known of it: see
// end. Or its parent was stolen. Such children are joined by one word, Strand.joined, and Strand.spawned
// is their number. Each that ends subtracts one, (W50). A strand that syncs
//
//	(R50) loads the word: if it is minus the number of children, all have ended, and it goes on; else
//	it parks, and only then what has resumed it adds that number, (W50).
//
// The step that brings the word to 0 continues the strand. "Joins" in README.md has the argument, and that
// of failures, (W51) and (R51).

// Sync returns when all functions that s has spawned have returned. Until then what they write must
// not be read. If some have failed, the first in the order of the serial program counts: Sync
// panics with its [*filch.PanicError], or ends the goroutine as runtime.Goexit does. At the end of
// each strand there is a Sync.
//
// A Sync that has to wait gives its worker to other work. The strand goes on where the last of the
// children ends. So a function may be on another goroutine's thread after a Sync, and after a Spawn.
//
// The end of each child synchronizes before the return from Sync.
func (s *Strand) Sync() {
	if race.Enabled || s.spawned != 0 || s.failure.Load() != nil { // (R51)
		s.syncSlow()
	}
}

func (s *Strand) syncSlow() {
	s.check("Sync")
	if spans := s.c.l.run.spans; spans != nil {
		spans.Sync(s.block)
	}
	s.join()
	s.fold()
	if first := s.failure.Swap(nil); first != nil { // (R51)
		if first.err == nil {
			runtime.Goexit()
		}
		panic(first.err)
	}
}

// join waits for the children of s.
func (s *Strand) join() {
	if race.Enabled {
		s.waitForChildren()
		defer s.setValues()
	}
	if s.spawned <= 0 {
		return
	}
	if s.joined.Load() == -int64(s.spawned) { // (R50)
		s.joined.Store(0)
	} else {
		c := s.c
		c.stalled = s
		views := c.l.w.SetViewsAside()
		c.yield(stalled)
		_ = c.l.w.RestoreViews(views)
	}
	s.spawned = 0
}

// parks is called when the carrier of s has parked. It reports whether it may go on at once.
func (s *Strand) parks() bool { return s.joined.Add(int64(s.spawned)) == 0 } // (W50)

// ends is called when a child of s has ended after s was stolen. It reports whether s is to go on,
// which waits for that alone.
func (s *Strand) ends() bool { return s.joined.Add(-1) == 0 } // (W50)

// failure is how a child ended, if not by returning.
type failure struct {
	err   error // a *filch.PanicError, or nil for runtime.Goexit
	order int   // 2k for the child that was really spawned as number k, 2k+1 for a plain call after it
}

// fail notes the failure of a child of s. The first in the order of the serial program counts.
func (s *Strand) fail(err error, order int) {
	f := &failure{err, order}
	for {
		old := s.failure.Load()
		if old != nil && old.order <= order || s.failure.CompareAndSwap(old, f) { // (W51)
			return
		}
	}
}

// unwind ends what s has left open after a panic with the value v, or after runtime.Goexit if v is
// nil. It returns the error of the panic. It must be called while the panic's stack is still there.
func (s *Strand) unwind(v any) (err error) {
	c := s.c
	c.open = s.depth // also if Do or Blocking was left
	c.limit = always
	mark := c.l.mark
	mark.Spans = s.block + 1
	err = c.l.w.Caught(mark, v)
	s.join()
	s.foldQuietly()
	c.limit = c.l.limit(c.level)
	if first := s.failure.Swap(nil); first != nil { // (R51); the serial program would not have come so far
		return first.err
	}
	return err
}

// rethrow ends the caller as the root strand of a run has ended.
func (f *failure) rethrow() {
	if f.err == nil {
		runtime.Goexit()
	}
	panic(f.err)
}
