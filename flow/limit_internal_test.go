package flow

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Units are given to the first in line, whatever leaves the line in between: as a plain list does it.
func TestLimitByAModel(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		const n = 5
		l := NewLimit(n)
		free := n
		var line, has, rest []*waiter
		for range 8 {
			rest = append(rest, &waiter{takes: []taking{{l, 1 + rng.IntN(n)}}})
		}
		take := func(from *[]*waiter, w *waiter) {
			i := slices.Index(*from, w)
			*from = slices.Delete(*from, i, i+1)
		}
		// serve serves all that can be, after k units were given back.
		serve := func(k int) {
			free += k
			for {
				w, _ := l.serve(k)
				k = 0
				if len(line) == 0 || line[0].takes[0].n > free {
					if w != nil {
						t.Fatalf("seed %d: one that takes %d is served, and %d are free", seed, w.takes[0].n, free)
					}
					return
				}
				if w != line[0] {
					t.Fatalf("seed %d: the first in line is not served", seed)
				}
				free -= w.takes[0].n
				line, has = line[1:], append(has, w)
			}
		}
		for range 200 {
			switch k := rng.IntN(5); {
			case k < 2 && len(rest) > 0:
				w := rest[rng.IntN(len(rest))]
				take(&rest, w)
				w.held = 0
				at := w.takes[0].n
				ok := len(line) == 0 && at <= free
				if l.take(w, nil, at) != ok {
					t.Fatalf("seed %d: one that takes %d of %d: %v, behind %d in line", seed, at, free, !ok, len(line))
				}
				if ok {
					free -= at
					has = append(has, w)
				} else {
					line = append(line, w)
				}
			case k == 2 && len(line) > 0:
				w := line[rng.IntN(len(line))]
				l.remove(w)
				l.remove(w) // which is not there
				take(&line, w)
				rest = append(rest, w)
				serve(0)
			case len(has) > 0:
				w := has[rng.IntN(len(has))]
				take(&has, w)
				rest = append(rest, w)
				serve(w.takes[0].n)
			}
			if l.free != free || (l.first == nil) != (len(line) == 0) {
				t.Fatalf("seed %d: %d units are free, not %d", seed, l.free, free)
			}
		}
	}
}
