package dag

import (
	"fmt"
	"math/bits"
	"regexp"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/cache"
)

// named parses, or fails.
func named(t testing.TB, text string) Program {
	t.Helper()
	p, name, err := Parse(text)
	if full := regexp.MustCompile(`^[a-z]+=[^@]+(@\d+)?$`); err != nil || !full.MatchString(name) {
		t.Fatalf("%s is named %q, %v", text, name, err)
	}
	return p
}

// facts counts, or fails.
func facts(t testing.TB, p Program) Facts {
	t.Helper()
	f, err := Serial(p, nil)
	if err != nil {
		t.Fatal("Serial(p, nil):", err)
	}
	return f
}

// fibonacci returns a Fibonacci number.
func fibonacci(n int64) int64 {
	a, b := int64(0), int64(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

// levels is how often n can be halved, rounded up, until 1 is left.
func levels(n int64) int64 { return int64(bits.Len64(uint64(n - 1))) }

// Work, span, threads and space in closed form.
func TestFactsOfDAGs(t *testing.T) {
	type known struct {
		work, span, threads int64
		live                int
	}
	is := func(name string, want known) {
		t.Helper()
		f := facts(t, named(t, name))
		if got := (known{f.Work, f.Span, f.Threads, f.Live}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for _, n := range []int64{1, 2, 3, 1000} {
		is(fmt.Sprintf("chain=%d", n), known{n, n, 1, 1})
		is(fmt.Sprintf("chain=%d@7", n), known{7 * n, 7 * n, 1, 1})
		is(fmt.Sprintf("loop=%d", n), known{2*n + 1, n + 2, n + 1, 2})
		is(fmt.Sprintf("bag=%d", n), known{n, 1, n + 1, 2})
		is(fmt.Sprintf("bag=%d@7", n), known{7 * n, 7, n + 1, 2})
		is(fmt.Sprintf("comb=%dx50", n), known{51*n + 1, n + 51, n + 1, 2})
		is(fmt.Sprintf("comb=%dx50@3", n), known{151*n + 1, n + 151, n + 1, 2})
		parts := n + 3*(n-1) // steps of a loop of n by halving
		is(fmt.Sprintf("iterative=20x%d", n), known{21 + 20*parts, 21 + 20*(1+3*levels(n)), 1 + 20*(2*n-1), 2 + int(levels(n))})
		is(fmt.Sprintf("nested=%d", n), known{n*parts + 3*(n-1), 6*levels(n) + 1, n*(2*n-1) + n - 1, 1 + 2*int(levels(n))})
	}
	is("nested=64@5", known{64*(5*64+3*63) + 3*63, 6*6 + 5, 64*127 + 63, 13})
	for n := int64(2); n <= 25; n++ {
		is(fmt.Sprintf("fib=%d", n), known{4*fibonacci(n+1) - 3, 2 * n, 2*fibonacci(n+1) - 1, int(n)})
	}
	is("fib=0", known{1, 1, 1, 1})
	is("fib=20@100", known{103*fibonacci(21) - 3, 39 + 100, 2*fibonacci(21) - 1, 20})
	for d := int64(0); d <= 15; d++ {
		leaves := int64(1) << d
		is(fmt.Sprintf("tree=%d", d), known{4*leaves - 3, 3*d + 1, 2*leaves - 1, int(d) + 1})
		is(fmt.Sprintf("mergesort=%d", leaves), known{leaves*(d+3) - 2, 2*leaves - 1 + 2*d, 2*leaves - 1, int(d) + 1})
	}
	is("tree=5^4", known{625 + 6*156, 4*6 + 1, 781, 5})
	is("tree=1^10000", known{2*10000 + 1, 2*10000 + 1, 10001, 10001})
	is("quicksort=1", known{1, 1, 1, 1})
	is("quicksort=2", known{6, 5, 3, 2})
	is("uts=0", known{1, 1, 1, 1})
}

// What is random comes out near what is expected.
func TestFactsOfRandomDAGs(t *testing.T) {
	near := func(what string, got, want, off float64) {
		t.Helper()
		if got < want*(1-off) || got > want*(1+off) {
			t.Errorf("%s: %.4g, want about %.4g", what, got, want)
		}
	}
	f := facts(t, UTS(8))
	if f.Work != 2*f.Threads-1 || f.Live != 9 || !f.Unit {
		t.Errorf("uts: %+v", f)
	}
	near("children of a node of uts", float64(f.Threads-facts(t, UTS(0)).Threads), 4*float64(facts(t, UTS(7)).Threads), 0.05)

	const n = 1 << 16
	f = facts(t, Quicksort(n))
	near("comparisons of quicksort", float64(f.Work), 1.39*n*16, 0.1) // 2 n ln n, and less by terms of n
	near("span of quicksort", float64(f.Span), 3.5*n, 0.5)
}

// Each kind has an example and a default that work.
func TestEachKindHasAnExampleAndADefaultThatWork(t *testing.T) {
	for _, d := range Families() {
		for _, text := range []string{d.Name, d.Name + "@3", d.Example} {
			if f := facts(t, named(t, text)); f.Work > 3_000_000 {
				t.Errorf("%s takes %d steps", text, f.Work)
			}
		}
		if _, name, _ := Parse(d.Name); name != d.Name+"="+d.Default {
			t.Errorf("%s is %q in full", d.Name, name)
		}
	}
}

// A node that touches memory touches each block once a round, and a cache that holds all of them misses no more
// than once for each.
func TestBlocksOfIterative(t *testing.T) {
	for blocks, want := range map[int]int64{50: 50, 49: 500} {
		f, err := Serial(named(t, "iterative=10x50"), cache.New(blocks))
		if err != nil || f.Misses != want {
			t.Errorf("a cache of %d blocks misses %d times, want %d; %v", blocks, f.Misses, want, err)
		}
	}
}

// A long thread, or one that spawns many, takes no memory of its own.
func TestLargeDAGsNeedNoMemory(t *testing.T) {
	for _, name := range []string{"chain=100000", "loop=100000", "bag=100000", "comb=300x300"} {
		p := named(t, name)
		if n := testing.AllocsPerRun(1, func() { facts(t, p) }); n > 10 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestDAGsThatCannotBeAreRefused(t *testing.T) {
	for text, wrong := range map[string]string{
		"":                          `unknown DAG ""; there are chain, loop, bag, tree,`,
		"fibs=3":                    `unknown DAG "fibs"`,
		"fib.json":                  `unknown DAG "fib.json"`,
		"fib=":                      `the size is ""; it must be a number from 0 to 50; for example fib=20`,
		"fib=51":                    `sim: fib=51: the size is "51"; it must be a number from 0 to 50`,
		"fib=-1":                    `"-1"`,
		"fib=+1":                    `"+1"`,
		"fib=1=2":                   `"1=2"`,
		"fib=20@":                   `the weight of leaves is ""; it must be a number from 1 to 1000000000`,
		"fib=20@0":                  `the weight of leaves is "0"`,
		"fib=20@1@2":                `the weight of leaves is "1@2"`,
		"chain=0":                   `from 1 to 1000000000`,
		"loop=18446744073709551617": `"18446744073709551617"`,
		"tree=0^3":                  `the arity is "0"`,
		"tree=2^3^4":                `the depth is "3^4"`,
		"tree=x^y":                  `the arity is "x"`,
		"tree=36":                   `at most 68719476736 threads`,
		"tree=100000000^5":          `at most 68719476736 threads`,
		"comb=3x":                   `their length is ""`,
		"comb=3x4x5":                `their length is "4x5"`,
		"iterative=0x5":             `the number of rounds is "0"`,
		"iterative=x":               `the number of rounds is ""`,
	} {
		if p, name, err := Parse(text); err == nil || !strings.Contains(err.Error(), wrong) || p != nil || name != "" {
			t.Errorf("%q is %v, named %q; %v", text, p, name, err)
		}
	}
}

// The work is counted exactly, or refused.
func TestTooMuchWorkIsRefused(t *testing.T) {
	if f := facts(t, named(t, "chain=1099@1000000000")); f.Work != 1099_000_000_000 {
		t.Errorf("the work is %d", f.Work)
	}
	_, err := Serial(named(t, "chain=1100@1000000000"), nil)
	if err == nil || err.Error() != "sim: the work is more than 1099511627776 steps, the most that there may be" {
		t.Errorf("too much work: %v", err)
	}
}
