package par

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// moreFunctions are those that have a file of their own, or little company in it.
func moreFunctions() map[string]function {
	one := []int{1}
	same, yes := func(v int) int { return v }, func(int) bool { return true }
	type list = []func(s filch.Scope)
	return map[string]function{
		"AnyRange": {func(s filch.Scope) { AnyRange(s, 1, func(_, _ int) bool { return true }) },
			list{func(s filch.Scope) { AnyRange(s, 0, nil) }}},
		"Indices": {func(s filch.Scope) { Indices(s, 1, yes) }, list{func(s filch.Scope) { Indices(s, 0, nil) }}},
		"Compact": {func(s filch.Scope) { Compact(s, one) }, nil},
		"CompactFunc": {func(s filch.Scope) { CompactFunc(s, one, func(_, _ int) bool { return true }) },
			list{func(s filch.Scope) { CompactFunc[int](s, nil, nil) }}},
		"MinBy":   {func(s filch.Scope) { MinBy(s, one, same) }, list{func(s filch.Scope) { MinBy[int, int](s, nil, nil) }}},
		"MaxBy":   {func(s filch.Scope) { MaxBy(s, one, same) }, list{func(s filch.Scope) { MaxBy[int, int](s, nil, nil) }}},
		"EachPtr": {func(s filch.Scope) { EachPtr(s, one, func(int, *int) {}) }, list{func(s filch.Scope) { EachPtr[int](s, nil, nil) }}},
		"MapPtr":  {func(s filch.Scope) { MapPtr(s, one, func(v *int) int { return *v }) }, list{func(s filch.Scope) { MapPtr[int, int](s, nil, nil) }}},
		"GroupReduce": {func(s filch.Scope) { GroupReduce(s, one, same, 0, add, add) }, list{
			func(s filch.Scope) { GroupReduce[int](s, []int{}, nil, 0, add, add) },
			func(s filch.Scope) { GroupReduce(s, []int{}, same, 0, nil, add) },
			func(s filch.Scope) { GroupReduce(s, []int{}, same, 0, add, nil) }}},
		"SortInterface": {func(s filch.Scope) { SortInterface(s, sort.IntSlice(one)) }, nil},
		"ForLines": {func(s filch.Scope) { ForLines(s, strings.NewReader("a"), func(int64, []byte) error { return nil }) },
			list{func(s filch.Scope) { ForLines(s, strings.NewReader(""), nil) }}},
		"ReduceLines": {func(s filch.Scope) {
			ReduceLines(s, strings.NewReader("a"), 0, func(int64, []byte) (int, error) { return 0, nil }, add)
		}, list{
			func(s filch.Scope) { ReduceLines(s, strings.NewReader(""), 0, nil, add) },
			func(s filch.Scope) {
				ReduceLines(s, strings.NewReader(""), 0, func(int64, []byte) (int, error) { return 0, nil }, nil)
			}}},
	}
}

// Nothing to do is done, and what makes no sense is told.
func TestMoreOfNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	never := func() { t.Error("called for nothing") }
	if AnyRange(p, 0, func(_, _ int) bool { never(); return true }) {
		t.Error("AnyRange of nothing")
	}
	if x := Indices(p, 0, func(int) bool { never(); return true }); x != nil {
		t.Errorf("Indices: %v", x)
	}
	if x := Compact(p, []int{}); x != nil {
		t.Errorf("Compact: %v", x)
	}
	if x := CompactFunc(p, nil, func(_, _ int) bool { never(); return true }); x != nil {
		t.Errorf("CompactFunc: %v", x)
	}
	if v, ok := MinBy(p, nil, func(int) int { never(); return 0 }); ok || v != 0 {
		t.Error("MinBy of nothing")
	}
	if v, ok := MaxBy(p, nil, func(int) int { never(); return 0 }); ok || v != 0 {
		t.Error("MaxBy of nothing")
	}
	for _, opts := range [][]Option{nil, {WithGrain(1)}} {
		EachPtr(p, []int{}, func(int, *int) { never() }, opts...)
		if x := MapPtr(p, nil, func(*int) int { never(); return 0 }, opts...); x == nil || len(x) != 0 {
			t.Errorf("MapPtr: %v", x)
		}
		m := GroupReduce(p, nil, func(int) int { never(); return 0 }, 0, add, add, opts...)
		if m == nil || len(m) != 0 {
			t.Errorf("GroupReduce: %v", m)
		}
	}
	SortInterface(p, sort.IntSlice(nil))
	for want, f := range map[string]func(){
		"par: AnyRange: n is -1, which is negative": func() { AnyRange(p, -1, func(_, _ int) bool { return true }) },
		"par: Indices: n is -1, which is negative":  func() { Indices(p, -1, func(int) bool { return true }) },
		"par: SortInterface: data is nil":           func() { SortInterface(p, nil) },
		"par: EachPtr: there is nothing for AllErrors to do": func() {
			EachPtr(p, []int{1}, func(int, *int) {}, AllErrors())
		},
		"par: MapPtr: there is nothing for InFlight to do": func() {
			MapPtr(p, []int{1}, func(v *int) int { return *v }, InFlight(1))
		},
		"par: GroupReduce: there is nothing for InFlight to do": func() {
			GroupReduce(p, []int{1}, func(v int) int { return v }, 0, add, add, InFlight(1))
		},
	} {
		if v := fmt.Sprint(rig.Catch(f)); v != want {
			t.Errorf("%s, not %s", v, want)
		}
	}
}
