package policy_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/policy"
)

var update = flag.Bool("update", false, "write the transcripts into testdata/victims, instead of comparing them")

// orders are all there are.
var orders = []struct {
	name string
	make func(seed uint64) policy.Victims
}{
	{"random-start", policy.RandomStart},
	{"round-robin", func(uint64) policy.Victims { return policy.RoundRobin() }},
	{"localized", policy.Localized},
	{"nearest", policy.Nearest},
	{"adaptive", policy.Adaptive},
}

// script is what happens to a thief.
type script struct {
	v     policy.Victims
	lines []string
}

const self, workers = 2, 6

// distance is how far others are from the thief: it shares a core with worker 1, and a socket with worker 0.
func distance(victim int) int {
	switch victim {
	case 1:
		return 1
	case 0:
		return 2
	}
	return 5
}

// pass returns the order of the next pass.
func pass(v *policy.Victims) (order []int) {
	p := v.Pass(self, workers)
	if v.GoesByDistance() {
		p.Sort(distance)
	}
	for i := range workers - 1 {
		order = append(order, p.At(i))
	}
	return order
}

func (s *script) says(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// looks adds passes that find nothing, and how many turns the thief sits out after each.
func (s *script) looks(n int) {
	for range n {
		order := pass(&s.v)
		s.v.Missed()
		turns := 0
		for s.v.Rests() {
			turns++
		}
		line := strings.Trim(fmt.Sprint(order), "[]")
		if turns > 0 {
			line += fmt.Sprintf("   then sits out %d", turns)
		}
		s.says("%s", line)
	}
}

// Each order is a function of its seed and of what happens.
func TestTranscriptsOfVictims(t *testing.T) {
	for _, o := range orders {
		s := &script{v: o.make(7)}
		s.says("# Seed 7: in which order worker %d of %d looks at the others, one look a line. No look finds anything,", self, workers)
		s.says("# until the thief has stolen. Near are worker 1, on the same core, and worker 0, on the same socket.")
		s.says("")
		s.v.Begin()
		s.looks(8)
		s.says("is robbed by worker 5, and begins a search")
		s.v.RobbedBy(5)
		s.v.Begin()
		s.looks(3)
		s.says("steals from worker 3, and begins a search")
		s.v.Took(3)
		s.v.Begin()
		s.looks(18)
		file := filepath.Join("testdata", "victims", o.name+".txt")
		got := []byte(strings.Join(s.lines, "\n") + "\n")
		if *update {
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal("os.WriteFile(file, got, 0o666):", err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v; %s is now\n%s\nIf that is meant, -update writes it.", err, file, got)
		}
	}
}

// Whatever comes first, each pass has every other worker once.
func TestAPassHasEveryVictimOnce(t *testing.T) {
	v := policy.RandomStart(3)
	for n := 1; n <= 70; n++ {
		for self := range n {
			for first := range n {
				p := v.Circle(self, n)
				q := p
				q.First(first)
				if first != self && q.At(0) != first {
					t.Fatalf("worker %d of %d begins with %d, not %d", self, n, q.At(0), first)
				}
				same(t, p, q, n)
			}
			p := v.Circle(self, n)
			q := p
			q.Sort(func(victim int) int { return victim * 7 % 5 })
			same(t, p, q, n)
		}
	}
	p := v.Pass(1, 4)
	q := p
	for _, none := range []int{-1, 1, 4, 100} {
		if q.First(none); q != p {
			t.Errorf("worker %d comes first", none)
		}
	}
}

// same fails if two passes do not have the same victims.
func same(t *testing.T, p, q policy.Pass, n int) {
	t.Helper()
	all := func(p policy.Pass) (victims []int) {
		for i := range n - 1 {
			victims = append(victims, p.At(i))
		}
		slices.Sort(victims)
		return victims
	}
	if got, want := all(q), all(p); !slices.Equal(got, want) {
		t.Fatalf("of %d: %v, not %v", n, got, want)
	}
}

// The first of the circle are looked at by their distance, and those that are as far as one another in the order of
// the circle. The others follow.
func TestSortedPasses(t *testing.T) {
	v := policy.Nearest(11)
	for _, n := range []int{1, 2, 3, 8, policy.Glance, policy.Glance + 1, policy.Glance + 2, 200} {
		far := func(victim int) int { return victim * 7 % 5 }
		for range 20 {
			p := v.Pass(0, n)
			var want []int
			for i := range n - 1 {
				want = append(want, p.At(i))
			}
			slices.SortStableFunc(want[:min(n-1, policy.Glance)], func(a, b int) int { return cmp.Compare(far(a), far(b)) })
			p.Sort(far)
			for i := range n - 1 {
				if p.At(i) != want[i] {
					t.Fatalf("victim %d of %d is %d, not %d", i, n, p.At(i), want[i])
				}
			}
		}
	}
}

// In a large pool too, each victim is glanced at before long, whatever the order. Else a thief might look at the
// others for ever while there is work.
func TestGlancesComeToAll(t *testing.T) {
	for _, o := range orders {
		for _, n := range []int{policy.Glance, policy.Glance + 1, policy.Glance + 2, 3 * policy.Glance, 1000} {
			v := o.make(9)
			v.RobbedBy(n - 1)
			seen := map[int]bool{}
			for range 20 * n / policy.Glance {
				p := v.Pass(7, n)
				if v.GoesByDistance() {
					p.Sort(func(victim int) int { return victim })
				}
				for i := range min(n-1, policy.Glance) {
					seen[p.At(i)] = true
				}
			}
			if len(seen) != n-1 {
				t.Errorf("%s: of %d others, %d were looked at", o.name, n-1, len(seen))
			}
		}
	}
}

// Orders that do not go by what happens do not change by it.
func TestOnlyTwoOrdersRemember(t *testing.T) {
	for _, o := range orders {
		v, quiet := o.make(5), o.make(5)
		v.RobbedBy(4)
		v.Took(5)
		got, want := pass(&v), pass(&quiet)
		switch first := map[string]int{"localized": 4, "adaptive": 5}[o.name]; {
		case first > 0 && got[0] != first:
			t.Errorf("%s: %v does not begin with %d", o.name, got, first)
		case first == 0 && !slices.Equal(got, want):
			t.Errorf("%s: %v, not %v", o.name, got, want)
		}
	}
}

// The thief looks first at the one it remembers until it has found nothing for 16 looks in a row.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		v              policy.Victims
		remind         func(v *policy.Victims)
		localized, far bool
	}{
		"localized": {policy.Localized(1), func(v *policy.Victims) { v.RobbedBy(3) }, true, false},
		"adaptive":  {policy.Adaptive(1), func(v *policy.Victims) { v.Took(3) }, false, false},
		"nearest":   {policy.Nearest(1), func(*policy.Victims) {}, false, true},
	} {
		if c.v.StealsBack() != c.localized || c.v.GoesByDistance() != c.far {
			t.Errorf("%s: steals back: %t; goes by distance: %t", name, c.v.StealsBack(), c.v.GoesByDistance())
		}
		for range 2 {
			c.remind(&c.v)
			for i := range 16 {
				if worker, ok := c.v.Favourite(); !c.far && (!ok || worker != 3) {
					t.Errorf("%s: after %d looks, %d comes first, %t", name, i, worker, ok)
				}
				c.v.Missed()
			}
			if worker, ok := c.v.Favourite(); ok {
				t.Errorf("%s: %d is remembered", name, worker)
			}
		}
	}
}

// What an adaptive thief waits for is found after at most twice the time, or a bounded time.
func TestBackoffIsBounded(t *testing.T) {
	v := policy.Adaptive(1)
	turns, last, longest := 0, 0, 0
	for range 100 {
		turns, last = turns+1, 0
		for v.Missed(); v.Rests(); last++ {
		}
		if last > turns && last > 1 {
			t.Fatalf("after %d turns it sits out %d", turns, last)
		}
		turns, longest = turns+last, max(longest, last)
	}
	if longest != 64 {
		t.Errorf("it sits out up to %d turns", longest)
	}
	for name, ends := range map[string]func(){"a steal": func() { v.Took(1) }, "a new search": v.Begin} {
		v.Missed()
		if ends(); v.Rests() {
			t.Errorf("sits out a turn after %s", name)
		}
		if v.Missed(); !v.Rests() || v.Rests() {
			t.Errorf("the first pause after %s is not one turn", name)
		}
	}
}
