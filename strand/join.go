package strand

import (
	"runtime"

	"github.com/filch-go/filch/internal/race"
)

// If the parent of a child that ends waits as the newest continuation, nobody else has known of the child: see end.
// Otherwise the parent was stolen. Such children are joined by one word, Strand.joined; Strand.spawned is their number.
// Each subtracts one when it ends, (W50). A strand that syncs
//
// (R50) loads the word. If it is minus the number of children, all have ended, and the strand goes on. Otherwise the
// strand parks, and after that its driver adds that number, (W50).
//
// The step that brings the word to 0 continues the strand. "Joins" in README.md has the argument, and that of failures,
// (W51) and (R51).

// Sync returns when all functions that s has spawned have returned. Do not read what they write before that. If some
// failed, the first in serial order counts: Sync panics with its [*filch.PanicError], or ends the goroutine as
// runtime.Goexit does. Each strand ends with an implicit Sync.
//
// A Sync that has to wait frees its worker for other work. The strand continues where its last child ends, so a
// function may be on another thread after a Sync, as after a Spawn.
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

// parks is called when the carrier of s has parked. It reports whether s may continue at once.
func (s *Strand) parks() bool { return s.joined.Add(int64(s.spawned)) == 0 } // (W50)

// ends is called when a child of s ends after s was stolen. It reports whether the caller continues s, which was
// waiting for that child alone.
func (s *Strand) ends() bool { return s.joined.Add(-1) == 0 } // (W50)

// failure is how a child ended, unless it returned.
type failure struct {
	err   error // a *filch.PanicError, or nil for runtime.Goexit
	order int   // 2k for the kth real child, 2k+1 for plain calls after it
}

// fail notes the failure of a child of s. The first in serial order counts.
func (s *Strand) fail(err error, order int) {
	f := &failure{err, order}
	for {
		old := s.failure.Load()
		if old != nil && old.order <= order || s.failure.CompareAndSwap(old, f) { // (W51)
			return
		}
	}
}

// unwind ends what s has left open after a panic with the value v, or after runtime.Goexit if v is nil. It returns the
// error of the panic. It must be called while the panic's stack is still there.
func (s *Strand) unwind(v any) (err error) {
	c := s.c
	c.open = s.depth // also if s left a Do or Blocking
	c.limit = always
	mark := c.l.mark
	mark.Spans = s.block + 1
	err = c.l.w.Caught(mark, v)
	s.join()
	s.foldQuietly()
	c.limit = c.l.limit(c.level)
	if first := s.failure.Swap(nil); first != nil { // (R51); the serial program would not have reached the failure of s
		return first.err
	}
	return err
}

// rethrow ends the caller as the root strand of a run ended.
func (f *failure) rethrow() {
	if f.err == nil {
		runtime.Goexit()
	}
	panic(f.err)
}
