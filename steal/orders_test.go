package steal_test

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
	"github.com/filch-go/filch/steal"
)

var update = flag.Bool("update", false, "write the transcripts into testdata, instead of comparing them")

// street is a machine on which the thief, worker 2, shares a core with worker 1, and a socket with worker 0. Each worker has the
// processor of its number.
type street struct{}

func (street) Processor() int { return 0 }
func (street) Distance(_, victim int) int {
	switch victim {
	case 1:
		return 1
	case 0:
		return 2
	}
	return 5
}

// orders are those of the package, with the street in place of this machine.
func orders() []steal.Order {
	all := steal.Orders()
	all[slices.Index(all, steal.Nearest)] = steal.NearestOn(street{})
	return all
}

const self, workers = 2, 6

// looked returns the order of the next look of worker self of n.
func looked(v *policy.Victims, self, n, most int) (order []int) {
	l := v.Look(steal.Numbered(n), self, most)
	for at, ok := l.Next(); ok; at, ok = l.Next() {
		order = append(order, at)
	}
	return order
}

// script is what happens to a thief.
type script struct {
	v     *policy.Victims
	lines []string
}

func (s *script) says(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// looks adds looks that find nothing, and how many turns the thief sits out after each.
func (s *script) looks(n int) {
	for range n {
		order := looked(s.v, self, workers, workers)
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

// robbed tells v that worker by has stolen from it, if it wants to know.
func robbed(v *policy.Victims, by int) {
	if v.HearsOfRobbers() {
		v.Robbed(by)
	}
}

// Each order is a function of its seed and of what happens.
func TestTranscriptsOfOrders(t *testing.T) {
	for _, o := range orders() {
		s := &script{v: policy.NewVictims(o, 7)}
		s.says("# Seed 7: in which order worker %d of %d looks at the others, one look a line. No look finds anything,", self, workers)
		s.says("# until the thief has stolen. Near are worker 1, on the same core, and worker 0, on the same socket.")
		s.says("")
		s.v.Begin()
		s.looks(8)
		s.says("is robbed by worker 5, and begins a search")
		robbed(s.v, 5)
		s.v.Begin()
		s.looks(3)
		s.says("steals from worker 3, and begins a search")
		s.v.Stole(3)
		s.v.Begin()
		s.looks(18)
		file := filepath.Join("testdata", o.String()+".txt")
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

// unruly is an order that names whom it likes, more than there are, and some twice.
type unruly struct{ first []int }

func (u unruly) String() string            { return "unruly" }
func (u unruly) Thief(uint64) steal.Thief  { return u }
func (u unruly) Missed(row int) (rest int) { return row * 1000 }
func (u unruly) Look(l *steal.Look) {
	for _, i := range u.first {
		l.First(i)
	}
	l.Start(u.first[0])
}

// Whatever an order says, each look has every other worker once, and no look the thief.
func TestALookHasEveryVictimOnce(t *testing.T) {
	all := orders()
	for first := range 71 {
		all = append(all, unruly{[]int{first - 1, -5, first, first, 3 * first, 1 << 30, first - 1, 0}})
	}
	for _, o := range all {
		for _, n := range []int{1, 2, 3, 4, 32, 33, 34, 70} {
			v := policy.NewVictims(o, 3)
			for self := -1; self < n; self++ {
				var want []int
				for i := range n {
					if i != self {
						want = append(want, i)
					}
				}
				robbed(v, (self+2)%n)
				v.Stole((self + 3) % n)
				got := looked(v, self, n, n)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%v: worker %d of %d looks at %v", o, self, n, got)
				}
				if got := looked(v, self, n, 5); len(got) != min(5, len(want)) {
					t.Fatalf("%v: worker %d of %d looks at %v, which are not 5", o, self, n, got)
				}
			}
		}
	}
}

// Those that are put first come in the order of the calls, and the others after them in the circle.
func TestFirstComesBeforeTheCircle(t *testing.T) {
	for _, c := range []struct {
		first []int
		want  []int
	}{
		{[]int{0}, []int{3, 4, 5, 0, 1}},
		{[]int{3, 1}, []int{0, 4, 1, 3, 5}},
		{[]int{4, 9, -1, 4, 2}, []int{1, 5, 3, 4, 0}},
		{[]int{-1}, []int{1, 3, 4, 5, 0}}, // the circle begins with the last
	} {
		if got := looked(policy.NewVictims(unruly{c.first}, 1), self, workers, workers); !slices.Equal(got, c.want) {
			t.Errorf("First of %v: %v, not %v", c.first, got, c.want)
		}
	}
}

// What a thief sees of the others goes around from the one behind it.
func TestWhatALookShows(t *testing.T) {
	var l steal.Look
	l.Begin(steal.Numbered(6), 2, 3)
	if l.Len() != 5 || l.Turns() != 3 || l.Here() != 2 || l.Self() != 2 {
		t.Errorf("%d others, %d of them are looked at, by %d, from %d", l.Len(), l.Turns(), l.Self(), l.Here())
	}
	for i, number := range []int{3, 4, 5, 0, 1} {
		if got := l.Number(i); got != number || l.Processor(i) != number {
			t.Errorf("at %d is worker %d, not %d, on processor %d", i, got, number, l.Processor(i))
		}
		if got, ok := l.Find(number); got != i || !ok {
			t.Errorf("worker %d is at %d, %t, not at %d", number, got, ok, i)
		}
	}
	for _, none := range []int{2, 6, -1} {
		if i, ok := l.Find(none); ok {
			t.Errorf("worker %d is at %d", none, i)
		}
	}
	l.Begin(steal.Numbered(3), -1, 9)
	if l.Len() != 3 || l.Turns() != 3 || l.Number(0) != 0 || l.Here() >= 0 {
		t.Errorf("a stranger has %d others, looks at %d, first at %d, from %d", l.Len(), l.Turns(), l.Number(0), l.Here())
	}
	l.Begin(steal.Numbered(1), 0, 9)
	l.Start(3)
	l.First(0)
	if at, ok := l.Next(); ok {
		t.Errorf("who is alone looks at %d", at)
	}
}

// The first of the circle are looked at by their distance, and those that are as far as one another in the order of
// the circle. The others follow.
func TestNearestSortsTheFront(t *testing.T) {
	o := steal.NearestOn(mod5{})
	for _, n := range []int{1, 2, 3, 8, steal.Glance, steal.Glance + 1, steal.Glance + 2, 200} {
		v, plain := policy.NewVictims(o, 11), policy.NewVictims(steal.RandomStart, 11)
		for range 20 {
			want := looked(plain, 0, n, n)
			slices.SortStableFunc(want[:min(n-1, steal.Glance)], func(a, b int) int { return cmp.Compare(mod5{}.Distance(0, a), mod5{}.Distance(0, b)) })
			if got := looked(v, 0, n, n); !slices.Equal(got, want) {
				t.Fatalf("of %d: %v, not %v", n, got, want)
			}
		}
	}
}

type mod5 struct{}

func (mod5) Processor() int             { return 0 }
func (mod5) Distance(_, victim int) int { return victim * 7 % 5 }

// In a large pool too, each victim is glanced at before long, whatever the order. Else a thief might look at the
// others for ever while there is work. Looks at all in between, for tasks, change nothing.
func TestGlancesComeToAll(t *testing.T) {
	for _, o := range append(orders(), unruly{[]int{0}}) {
		for _, n := range []int{steal.Glance, steal.Glance + 1, steal.Glance + 2, 2*steal.Glance + 1, 3 * steal.Glance, 1000} {
			v := policy.NewVictims(o, 9)
			robbed(v, n-1)
			seen := map[int]bool{}
			for range 20 * n / steal.Glance {
				looked(v, 7, n, n)
				for _, at := range looked(v, 7, n, steal.Glance) {
					seen[at] = true
				}
				v.Missed()
				if o == steal.RoundRobin || o == steal.RandomStart {
					v.Stole(0) // these need no help
				}
			}
			if len(seen) != n-1 {
				t.Errorf("%v: of %d others, %d were looked at", o, n-1, len(seen))
			}
		}
	}
}

// Round robin begins with the next worker, and a random start with each of the others as often. The same seed gives the same order.
func TestWithWhomALookBegins(t *testing.T) {
	robin := policy.NewVictims(steal.RoundRobin, 42)
	for self := range 5 {
		for j, got := range looked(robin, self, 5, 5) {
			if want := (self + j + 1) % 5; got != want {
				t.Errorf("victim %d of %d is %d, not %d", j, self, got, want)
			}
		}
	}
	const looks = 70_000
	for _, n := range []int{3, 8} {
		v, again := policy.NewVictims(steal.RandomStart, 42), policy.NewVictims(steal.RandomStart, 42)
		first := make([]int, n)
		for range looks {
			order := looked(v, 2, n, n)
			if !slices.Equal(order, looked(again, 2, n, n)) {
				t.Fatal("the same seed gave two orders")
			}
			first[order[0]]++
		}
		for i, k := range first {
			want := looks / (n - 1)
			if i == 2 {
				want = 0
			}
			if k < want*9/10 || k > want*11/10 {
				t.Errorf("worker %d of %d came first %d times of %d", i, n, k, looks)
			}
		}
	}
}

// Orders that do not go by what happens do not change by it.
func TestOnlyTwoOrdersRemember(t *testing.T) {
	for _, o := range orders() {
		v, quiet := policy.NewVictims(o, 5), policy.NewVictims(o, 5)
		robbed(v, 4)
		v.Stole(5)
		got, want := looked(v, self, workers, workers), looked(quiet, self, workers, workers)
		switch first := map[steal.Order]int{steal.Localized: 4, steal.Adaptive: 5}[o]; {
		case first > 0 && got[0] != first:
			t.Errorf("%v: %v does not begin with %d", o, got, first)
		case first == 0 && !slices.Equal(got, want):
			t.Errorf("%v: %v, not %v", o, got, want)
		}
	}
}

// The thief looks first at the one it remembers until it has found nothing for 16 looks in a row.
func TestTheOneRememberedComesFirstForSixteenLooks(t *testing.T) {
	for _, o := range []steal.Order{steal.Localized, steal.Adaptive} {
		v := policy.NewVictims(o, 1)
		if hears := v.HearsOfRobbers(); hears != (o == steal.Localized) {
			t.Errorf("%v hears of robbers: %t", o, hears)
		}
		for range 2 {
			robbed(v, 3)
			v.Stole(3)
			for i := range 16 {
				if got := looked(v, self, workers, workers); got[0] != 3 {
					t.Errorf("%v: after %d looks, %d comes first", o, i, got[0])
				}
				v.Missed()
			}
			firsts := map[int]bool{}
			for range 50 {
				firsts[looked(v, self, workers, workers)[0]] = true
			}
			if len(firsts) < 4 {
				t.Errorf("%v: after 16 looks, first come %v", o, firsts)
			}
		}
	}
}

// A steal from somebody else gives the robber 16 looks more.
func TestAStealKeepsTheRobberInMind(t *testing.T) {
	v := policy.NewVictims(steal.Localized, 1)
	v.Robbed(3)
	for range 15 {
		v.Missed()
	}
	v.Stole(5)
	for range 15 {
		v.Missed()
	}
	if got := looked(v, self, workers, workers); got[0] != 3 {
		t.Errorf("%d comes first", got[0])
	}
}

// What an adaptive thief waits for is found after at most twice the time, or a bounded time.
func TestBackoffIsBounded(t *testing.T) {
	v := policy.NewVictims(steal.Adaptive, 1)
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
	if longest != steal.MostRest {
		t.Errorf("it sits out up to %d turns", longest)
	}
	for name, ends := range map[string]func(){"a steal": func() { v.Stole(1) }, "a new search": v.Begin} {
		v.Missed()
		if ends(); v.Rests() {
			t.Errorf("sits out a turn after %s", name)
		}
		if v.Missed(); !v.Rests() || v.Rests() {
			t.Errorf("the first pause after %s is not one turn", name)
		}
	}
}

// A thief cannot wait for longer than a pool can bear.
func TestRestsAreBounded(t *testing.T) {
	v := policy.NewVictims(unruly{[]int{0}}, 1)
	v.Missed()
	rests := 0
	for v.Rests() {
		rests++
	}
	if rests != steal.MostRest {
		t.Errorf("it sits out %d turns", rests)
	}
	v = policy.NewVictims(sleepless{}, 1)
	if v.Missed(); v.Rests() {
		t.Error("it sits out a negative number of turns")
	}
}

type sleepless struct{}

func (sleepless) String() string           { return "sleepless" }
func (sleepless) Thief(uint64) steal.Thief { return sleepless{} }
func (sleepless) Look(*steal.Look)         {}
func (sleepless) Missed(int) (rest int)    { return -3 }

// A machine that is nil is told where it is given.
func TestNearestOnNothing(t *testing.T) {
	defer func() {
		if got := recover(); got != "steal: NearestOn(nil): there must be a machine" {
			t.Errorf("%v", got)
		}
	}()
	steal.NearestOn(nil)
}
