package loops

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par"
)

// Elements that suddenly take long are shared, whichever function calls for each: no more than 64
// of them run one after the other, though those before them took nothing.
func TestDearElementsAreShared(t *testing.T) {
	const cheap, dear, workers = 100_000, 64 * 8, 8
	n := cheap + dear
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	for name, run := range map[string]func(s filch.Scope, do func(i int)){
		"ForScope": func(s filch.Scope, do func(i int)) { par.ForScope(s, n, func(_ filch.Scope, i int) { do(i) }) },
		"ForTiles": func(s filch.Scope, do func(i int)) {
			par.ForTiles(s, n, 1, func(x, _, _, _ int) { do(x) }, par.WithGrain(1))
		},
		"Each":   func(s filch.Scope, do func(i int)) { par.Each(s, x, func(i, _ int) { do(i) }) },
		"ForErr": func(s filch.Scope, do func(i int)) { par.ForErr(s, n, func(i int) error { do(i); return nil }) },
		"Map":    func(s filch.Scope, do func(i int)) { par.Map(s, x, func(v int) int { do(v); return v }) },
		"MapErr": func(s filch.Scope, do func(i int)) {
			par.MapErr(s, x, func(v int) (int, error) { do(v); return v, nil })
		},
		"IndexFunc":    func(s filch.Scope, do func(i int)) { par.IndexFunc(s, x, func(v int) bool { do(v); return false }) },
		"IndexFuncAny": func(s filch.Scope, do func(i int)) { par.IndexFuncAny(s, x, func(v int) bool { do(v); return false }) },
		"All":          func(s filch.Scope, do func(i int)) { par.All(s, x, func(v int) bool { do(v); return true }) },
		"FromSeq":      func(s filch.Scope, do func(i int)) { par.FromSeq(s, slices.Values(x), do, par.WithGrain(n)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			begin := time.Now()
			run(p, func(i int) {
				if i >= cheap {
					time.Sleep(time.Second)
				}
			})
			if rounds := int(time.Since(begin) / time.Second); rounds > dear/workers+80 {
				t.Errorf("%s: %d rounds for %d dear elements on %d workers", name, rounds, dear, workers)
			}
		})
	}
}

// As many tiles as there can be are no mistake.
func TestAllTilesThereCanBe(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const most = int(^uint(0) >> 1)
	bad := errors.New("bad")
	v := rig.Catch(func() { par.ForTiles(p, 1, most, func(_, _, _, _ int) { panic(bad) }, par.WithGrain(1)) })
	if err, ok := v.(error); !ok || !errors.Is(err, bad) {
		t.Errorf("rig.Catch(…): %v", v)
	}
}
