package strands

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

func work(units int) { time.Sleep(time.Duration(units) * time.Second) }

// Work and span are those of programs that are known, exactly, in virtual time.
func TestWorkAndSpanAreThoseOfKnownPrograms(t *testing.T) {
	var tree func(s *strand.Strand, depth int)
	tree = func(s *strand.Strand, depth int) {
		if depth == 0 {
			work(1)
			return
		}
		s.Spawn(func(s *strand.Strand) { tree(s, depth-1) })
		tree(s, depth-1)
	}
	type want struct{ work, span, forks int }
	for name, c := range map[string]struct {
		f func(s *strand.Strand)
		want
	}{
		"nothing":  {func(*strand.Strand) {}, want{0, 0, 0}},
		"serial":   {func(*strand.Strand) { work(7) }, want{7, 7, 0}},
		"one":      {func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { work(3) }); work(2) }, want{5, 3, 1}},
		"tree":     {func(s *strand.Strand) { tree(s, 6) }, want{64, 1, 63}},
		"producer": {func(s *strand.Strand) { spawnAll(s, 10, func() { work(1) }, func() { work(5) }) }, want{60, 15, 10}},
		"two syncs": {func(s *strand.Strand) {
			spawnAll(s, 4, func() {}, func() { work(2) })
			s.Sync()
			spawnAll(s, 4, func() {}, func() { work(3) })
		}, want{20, 5, 8}},
		"values": {func(s *strand.Strand) {
			a := strand.SpawnValue(s, func(*strand.Strand) int { work(4); return 1 })
			b := strand.SpawnCall(s, func(*strand.Strand, int) int { work(6); return 2 }, 0)
			work(1)
			s.Sync()
			if a.Get()+b.Get() != 3 {
				panic("wrong")
			}
			work(1)
		}, want{12, 7, 2}},
		"a child that awaits its own": {func(s *strand.Strand) {
			s.Spawn(func(s *strand.Strand) {
				s.Spawn(func(*strand.Strand) { work(5) })
				work(1)
				s.Sync()
				work(2)
			})
			work(3)
		}, want{11, 7, 2}},
		"a child that fails": {func(s *strand.Strand) {
			defer func() { recover() }()
			s.Spawn(func(s *strand.Strand) {
				s.Spawn(func(*strand.Strand) { work(5) })
				work(1)
				panic("fails")
			})
			work(2)
			s.Sync()
		}, want{8, 5, 2}},
		"a loop inside": {func(s *strand.Strand) {
			s.Spawn(func(s *strand.Strand) { par.For(s, 8, func(int) { work(1) }, par.WithGrain(1)) })
			work(3)
		}, want{11, 3, 8}},
		"a run inside": {func(s *strand.Strand) {
			s.Spawn(func(s *strand.Strand) { strand.Run(s, func(s *strand.Strand) { tree(s, 3) }, strand.Eager()) })
			work(3)
		}, want{11, 3, 8}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := strand.Measure(c.f)
			got := want{int(p.Work / time.Second), int(p.Span / time.Second), int(p.Forks)}
			if got != c.want || p.Work%time.Second != 0 {
				t.Errorf("%s: %+v and not %+v: %v", name, got, c.want, p)
			}
		})
	}
}

// spawnAll spawns n children, and does something else before each.
func spawnAll(s *strand.Strand, n int, before, child func()) {
	for range n {
		before()
		s.Spawn(func(*strand.Strand) { child() })
	}
}

// Strands are measured inside other work.
func TestMeasureOfStrandsInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.Measure(func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) {
				strand.Run(w, func(s *strand.Strand) { spawnAll(s, 4, func() {}, func() { work(2) }) })
			},
				func(*filch.Worker) { work(3) })
		})
		if p.Work != 11*time.Second || p.Span != 3*time.Second || p.Forks != 5 {
			t.Errorf("filch.Measure(…): %v", p)
		}
	})
}

// What fails arrives as from a run that is not measured.
func TestMeasureThatFails(t *testing.T) {
	err := caught(func() {
		strand.Measure(func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { panic("no") }) })
	})
	var pe *filch.PanicError
	if !errors.As(err, &pe) || pe.Value != "no" {
		t.Errorf("caught(…): %v", err)
	}
	if err := caught(func() { strand.Measure(nil) }); err == nil || !strings.Contains(err.Error(), "Measure: f is nil") {
		t.Errorf("caught(…): %v", err)
	}
}
