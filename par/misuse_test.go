package par

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// Every function that takes a Scope: a call with little to do, and calls with a nil function.
type function struct {
	run  func(s filch.Scope)
	nils []func(s filch.Scope)
}

func functions() map[string]function {
	all := moreFunctions()
	maps.Copy(all, mostFunctions())
	return all
}

func mostFunctions() map[string]function {
	all := loopsAndOrders()
	maps.Copy(all, searchesAndLists())
	return all
}

func loopsAndOrders() map[string]function {
	one, two := []int{1}, []int{1, 2}
	same := func(v int) int { return v }
	opts := []Option{WithGrain(3)}
	type list = []func(s filch.Scope)
	return map[string]function{
		"For":      {func(s filch.Scope) { For(s, 1, func(int) {}) }, list{func(s filch.Scope) { For(s, 0, nil) }}},
		"ForScope": {func(s filch.Scope) { ForScope(s, 1, func(filch.Scope, int) {}) }, list{func(s filch.Scope) { ForScope(s, 0, nil) }}},
		"ForRange": {func(s filch.Scope) { ForRange(s, 1, func(_, _ int) {}) }, list{func(s filch.Scope) { ForRange(s, 0, nil) }, func(s filch.Scope) { ForRange(s, 0, nil, opts...) }}},
		"ForTiles": {func(s filch.Scope) { ForTiles(s, 1, 1, func(_, _, _, _ int) {}) }, list{func(s filch.Scope) { ForTiles(s, 0, 0, nil) }}},
		"Each":     {func(s filch.Scope) { Each(s, one, func(_, _ int) {}) }, list{func(s filch.Scope) { Each[int](s, nil, nil) }}},
		"ForErr":   {func(s filch.Scope) { ForErr(s, 1, func(int) error { return nil }) }, list{func(s filch.Scope) { ForErr(s, 0, nil) }}},
		"Histogram": {func(s filch.Scope) { Histogram(s, one, 2, same) },
			list{func(s filch.Scope) { Histogram[int](s, nil, 1, nil) }}},
		"Unique":       {func(s filch.Scope) { Unique(s, one) }, nil},
		"GroupBy":      {func(s filch.Scope) { GroupBy(s, one, same) }, list{func(s filch.Scope) { GroupBy[int](s, []int{}, nil) }}},
		"Smallest":     {func(s filch.Scope) { Smallest(s, one, 1) }, nil},
		"Largest":      {func(s filch.Scope) { Largest(s, one, 1) }, nil},
		"SmallestFunc": {func(s filch.Scope) { SmallestFunc(s, one, 1, cmp.Compare[int]) }, list{func(s filch.Scope) { SmallestFunc[int](s, nil, 0, nil) }}},
		"LargestFunc":  {func(s filch.Scope) { LargestFunc(s, one, 1, cmp.Compare[int]) }, list{func(s filch.Scope) { LargestFunc[int](s, nil, 0, nil) }}},
		"Sort":         {func(s filch.Scope) { Sort(s, one) }, nil},
		"SortFunc": {func(s filch.Scope) { SortFunc(s, one, cmp.Compare[int]) },
			list{func(s filch.Scope) { SortFunc[int](s, nil, nil) }}},
		"SortStableFunc": {func(s filch.Scope) { SortStableFunc(s, one, cmp.Compare[int]) },
			list{func(s filch.Scope) { SortStableFunc[int](s, nil, nil) }}},
		"Merge": {func(s filch.Scope) { Merge(s, make([]int, 2), one, one) }, nil},
		"MergeFunc": {func(s filch.Scope) { MergeFunc(s, make([]int, 2), one, one, cmp.Compare[int]) },
			list{func(s filch.Scope) { MergeFunc[int](s, nil, nil, nil, nil) }}},
		"IsSorted": {func(s filch.Scope) { IsSorted(s, two) }, nil},
		"IsSortedFunc": {func(s filch.Scope) { IsSortedFunc(s, two, cmp.Compare[int]) },
			list{func(s filch.Scope) { IsSortedFunc[int](s, nil, nil) }}},
	}
}

func searchesAndLists() map[string]function {
	one := []int{1}
	yes := func(int) bool { return true }
	same := func(v int) int { return v }
	values := func() iter.Seq[int] { return slices.Values(one) }
	type list = []func(s filch.Scope)
	return map[string]function{
		"Reduce": {func(s filch.Scope) { Reduce(s, one, 0, add) }, list{func(s filch.Scope) { Reduce(s, nil, 0, nil) }}},
		"MapReduce": {func(s filch.Scope) { MapReduce(s, one, 0, same, add) }, list{
			func(s filch.Scope) { MapReduce[int](s, nil, 0, nil, add) }, func(s filch.Scope) { MapReduce(s, nil, 0, same, nil) }}},
		"ReduceRange": {func(s filch.Scope) { ReduceRange(s, 1, 0, func(_, _ int) int { return 0 }, add) }, list{
			func(s filch.Scope) { ReduceRange(s, 0, 0, nil, add) }, func(s filch.Scope) { ReduceRange(s, 0, 0, func(_, _ int) int { return 0 }, nil) }}},
		"Sum":                {func(s filch.Scope) { Sum(s, one) }, nil},
		"MinMax":             {func(s filch.Scope) { MinMax(s, one) }, nil},
		"MinMaxFunc":         {func(s filch.Scope) { MinMaxFunc(s, one, cmp.Compare[int]) }, list{func(s filch.Scope) { MinMaxFunc[int](s, nil, nil) }}},
		"Count":              {func(s filch.Scope) { Count(s, one, yes) }, list{func(s filch.Scope) { Count[int](s, nil, nil) }}},
		"Scan":               {func(s filch.Scope) { Scan(s, one, one, add) }, list{func(s filch.Scope) { Scan[int](s, nil, nil, nil) }}},
		"PrefixSum":          {func(s filch.Scope) { PrefixSum(s, one, one) }, nil},
		"PrefixSumExclusive": {func(s filch.Scope) { PrefixSumExclusive(s, one, one, 0) }, nil},
		"FilterBetween":      {func(s filch.Scope) { FilterBetween(s, one, 0, 1) }, nil},
		"CountBetween":       {func(s filch.Scope) { CountBetween(s, one, 0, 1) }, nil},
		"CountRange":         {func(s filch.Scope) { CountRange(s, 1, func(_, _ int) int { return 0 }) }, list{func(s filch.Scope) { CountRange(s, 0, nil) }}},
		"IndexRange":         {func(s filch.Scope) { IndexRange(s, 1, func(_, _ int) int { return -1 }) }, list{func(s filch.Scope) { IndexRange(s, 0, nil) }}},
		"AllRange":           {func(s filch.Scope) { AllRange(s, 1, func(_, _ int) bool { return true }) }, list{func(s filch.Scope) { AllRange(s, 0, nil) }}},
		"ScanExclusive": {func(s filch.Scope) { ScanExclusive(s, one, one, 0, add) },
			list{func(s filch.Scope) { ScanExclusive(s, nil, nil, 0, nil) }}},
		"IndexFunc":    {func(s filch.Scope) { IndexFunc(s, one, yes) }, list{func(s filch.Scope) { IndexFunc[int](s, nil, nil) }}},
		"IndexFuncAny": {func(s filch.Scope) { IndexFuncAny(s, one, yes) }, list{func(s filch.Scope) { IndexFuncAny[int](s, nil, nil) }}},
		"Any":          {func(s filch.Scope) { Any(s, one, yes) }, list{func(s filch.Scope) { Any[int](s, nil, nil) }}},
		"All":          {func(s filch.Scope) { All(s, one, yes) }, list{func(s filch.Scope) { All[int](s, nil, nil) }}},
		"Map":          {func(s filch.Scope) { Map(s, one, same) }, list{func(s filch.Scope) { Map[int, int](s, nil, nil) }}},
		"MapInto":      {func(s filch.Scope) { MapInto(s, one, one, same) }, list{func(s filch.Scope) { MapInto[int, int](s, nil, nil, nil) }}},
		"MapErr":       {func(s filch.Scope) { MapErr(s, one, func(int) (int, error) { return 0, nil }) }, list{func(s filch.Scope) { MapErr[int, int](s, nil, nil) }}},
		"ReduceInto": {func(s filch.Scope) { ReduceInto(s, 1, newInt, intoInt, mergeInt) }, list{
			func(s filch.Scope) { ReduceInto(s, 0, nil, intoInt, mergeInt) }, func(s filch.Scope) { ReduceInto(s, 0, newInt, nil, mergeInt) },
			func(s filch.Scope) { ReduceInto(s, 0, newInt, intoInt, nil) }}},
		"ReduceIntoRange": {func(s filch.Scope) { ReduceIntoRange(s, 1, newInt, rangeInto, mergeInt) }, list{
			func(s filch.Scope) { ReduceIntoRange(s, 0, nil, rangeInto, mergeInt) }, func(s filch.Scope) { ReduceIntoRange(s, 0, newInt, nil, mergeInt) },
			func(s filch.Scope) { ReduceIntoRange(s, 0, newInt, rangeInto, nil) }}},
		"ForInit": {func(s filch.Scope) { ForInit(s, 1, newInt, intoInt) }, list{
			func(s filch.Scope) { ForInit(s, 0, nil, intoInt) }, func(s filch.Scope) { ForInit(s, 0, newInt, nil) }}},
		"ForRangeInit": {func(s filch.Scope) { ForRangeInit(s, 1, newInt, rangeInto) }, list{
			func(s filch.Scope) { ForRangeInit(s, 0, nil, rangeInto) }, func(s filch.Scope) { ForRangeInit(s, 0, newInt, nil) }}},
		"Collect":   {func(s filch.Scope) { Collect(s, 1, func(_, _ int, out []int) []int { return out }) }, list{func(s filch.Scope) { Collect[int](s, 0, nil) }}},
		"FlatMap":   {func(s filch.Scope) { FlatMap(s, one, func(_ int, out []int) []int { return out }) }, list{func(s filch.Scope) { FlatMap[int, int](s, nil, nil) }}},
		"Fill":      {func(s filch.Scope) { Fill(s, one, 1) }, nil},
		"Copy":      {func(s filch.Scope) { Copy(s, one, one) }, nil},
		"Filter":    {func(s filch.Scope) { Filter(s, one, yes) }, list{func(s filch.Scope) { Filter[int](s, nil, nil) }}},
		"Partition": {func(s filch.Scope) { Partition(s, one, yes) }, list{func(s filch.Scope) { Partition[int](s, nil, nil) }}},
		"Shuffle":   {func(s filch.Scope) { Shuffle(s, one, 1) }, nil},
		"MapSeq": {func(s filch.Scope) { MapSeq(s, values(), same) }, list{
			func(s filch.Scope) { MapSeq[int, int](s, values(), nil) }, func(s filch.Scope) { MapSeq(s, nil, same) }}},
		"FromSeq": {func(s filch.Scope) { FromSeq(s, values(), func(int) {}) }, list{
			func(s filch.Scope) { FromSeq(s, values(), nil) }, func(s filch.Scope) { FromSeq(s, nil, func(int) {}) }}},
		"WalkDir": {func(s filch.Scope) {
			WalkDir(s, fstest.MapFS{}, ".", func(string, fs.DirEntry, error) error { return nil })
		}, list{func(s filch.Scope) { WalkDir(s, fstest.MapFS{}, ".", nil) }}},
		"Pipeline.Run": {func(s filch.Scope) { From(values()).Run(s, func(int) error { return nil }) },
			list{func(s filch.Scope) { From(values()).Run(s, nil) }}},
	}
}

// Every exported function with a Scope is in the table.
func TestAllFunctionsAreKnown(t *testing.T) {
	known := functions()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal("parser.ParseFile(token.NewFileSet(), file, nil, 0):", err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || len(fn.Type.Params.List) == 0 {
				continue
			}
			sel, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Scope" {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = "Pipeline." + name
			}
			found++
			if _, ok := known[name]; !ok {
				t.Errorf("%s is not in the table of functions: add it to loopsAndOrders or searchesAndLists", name)
			}
			if _, ok := withLimits[name]; !ok && takesOptions(fn) && takesFunction(fn) && !slices.Contains(unlimited, name) {
				t.Errorf("%s is not in withLimits of limits_test.go, nor unlimited; see also coarse_test.go, asked_test.go, small_test.go", name)
			}
		}
	}
	if found != len(known) {
		t.Errorf("%d functions, and %d in the table", found, len(known))
	}
}

// unlimited are the functions that take options and a function, and are not in withLimits.
var unlimited = []string{"Reduce"} // its function combines: TestMaxWorkersOfCombinations

func takesOptions(fn *ast.FuncDecl) bool {
	all := fn.Type.Params.List
	_, ok := all[len(all)-1].Type.(*ast.Ellipsis)
	return ok
}

func takesFunction(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool { _, ok := f.Type.(*ast.FuncType); return ok })
}

// A nil Scope or function is told at once, by the name of what was called.
func TestNilIsRefused(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for name, f := range functions() {
		for _, s := range []filch.Scope{nil, (*filch.Pool)(nil), (*filch.Worker)(nil)} {
			if v := rig.Catch(func() { f.run(s) }); v != "par: "+name+": s is nil" {
				t.Errorf("%s with the Scope %#v: %v", name, s, v)
			}
		}
		for i, call := range f.nils {
			if v := rig.Catch(func() { call(p) }); v != "par: "+name+": the function is nil" {
				t.Errorf("%s with a nil function (%d): %v", name, i, v)
			}
		}
	}
}

// One element needs no pool, so a closed one is no mistake, with what needs none at all.
func TestLittleNeedsNoPool(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	p.Close()
	for name, f := range functions() {
		if name == "Pipeline.Run" || name == "WalkDir" || name == "ForScope" { // a body of ForScope gets a Worker
			continue
		}
		for range 3 {
			if v := rig.Catch(func() { f.run(p) }); v != nil {
				t.Errorf("%s of one element on a closed pool: %v", name, v)
			}
		}
	}
	for name, f := range map[string]func(){
		"For with a chunk":      func() { For(p, 100, func(int) {}, WithGrain(100)) },
		"ForRange with a chunk": func() { ForRange(p, 100, func(_, _ int) {}, WithGrain(200)) },
		"Sum":                   func() { Sum(p, make([]int, 100)) },
		"Sort":                  func() { Sort(p, []int{3, 1, 2}) },
		"SortFunc":              func() { SortFunc(p, []int{3, 1, 2}, cmp.Compare[int]) },
		"SortStableFunc":        func() { SortStableFunc(p, []int{3, 1, 2}, cmp.Compare[int]) },
		"Fill":                  func() { Fill(p, make([]int, 100), 1) },
		"Copy":                  func() { Copy(p, make([]int, 100), make([]int, 100)) },
		"Merge":                 func() { Merge(p, make([]int, 200), make([]int, 100), make([]int, 100)) },
		"MinMax":                func() { MinMax(p, make([]int, 100)) },
		"nothing":               func() { For(p, 0, func(int) {}); ForTiles(p, 0, 5, func(_, _, _, _ int) {}) },
	} {
		if v := rig.Catch(f); v != nil {
			t.Errorf("%s on a closed pool: %v", name, v)
		}
	}
	if v := rig.Catch(func() { For(p, 10, func(int) {}, WithGrain(1)) }); v == nil {
		t.Error("ten chunks on a closed pool")
	}
}

// Nothing to do is done, and never called for.
func TestNothingIsDone(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	never := func() { t.Error("called for nothing") }
	for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(7)}} {
		For(p, 0, func(int) { never() }, opts...)
		ForScope(p, 0, func(filch.Scope, int) { never() }, opts...)
		ForRange(p, 0, func(_, _ int) { never() }, opts...)
		ForTiles(p, 0, 0, func(_, _, _, _ int) { never() }, opts...)
		ForTiles(p, 0, 3, func(_, _, _, _ int) { never() }, opts...)
		ForTiles(p, 3, 0, func(_, _, _, _ int) { never() }, opts...)
		ForErr(p, 0, func(int) error { never(); return nil }, opts...)
		Each(p, []int{}, func(_, _ int) { never() }, opts...)
		if v := Reduce(p, nil, 7, func(a, b int) int { never(); return 0 }, opts...); v != 7 {
			t.Errorf("Reduce: %d", v)
		}
		if v := ReduceRange(p, 0, 7, func(_, _ int) int { never(); return 0 }, add, opts...); v != 7 {
			t.Errorf("ReduceRange: %d", v)
		}
	}
	if x := Map(p, []int{}, func(int) int { never(); return 0 }); len(x) != 0 {
		t.Errorf("Map: %v", x)
	}
	if _, _, ok := MinMax(p, []int{}); ok {
		t.Error("MinMax of nothing")
	}
	if _, _, ok := MinMaxFunc(p, nil, func(_, _ int) int { never(); return 0 }); ok {
		t.Error("MinMaxFunc of nothing")
	}
	if n := CountRange(p, 0, func(_, _ int) int { never(); return 1 }); n != 0 {
		t.Errorf("CountRange: %d", n)
	}
	if n := IndexRange(p, 0, func(_, _ int) int { never(); return 0 }); n != -1 {
		t.Errorf("IndexRange: %d", n)
	}
	if !AllRange(p, 0, func(_, _ int) bool { never(); return false }) {
		t.Error("AllRange of nothing")
	}
	if n := IndexFunc(p, nil, func(int) bool { never(); return true }); n != -1 {
		t.Errorf("IndexFunc: %d", n)
	}
	if Any(p, nil, func(int) bool { return true }) || !All(p, nil, func(int) bool { return false }) {
		t.Error("Any or All of nothing")
	}
	if !IsSorted(p, []int{}) || !IsSorted(p, []int{1}) {
		t.Error("nothing is not sorted")
	}
	if n := ScanExclusive(p, nil, nil, 7, func(_, _ int) int { never(); return 0 }); n != 7 {
		t.Errorf("ScanExclusive: %d", n)
	}
	if n := PrefixSumExclusive(p, nil, nil, 7); n != 7 {
		t.Errorf("PrefixSumExclusive: %d", n)
	}
	if x := SmallestFunc(p, []int{1, 2}, 0, func(_, _ int) int { never(); return 0 }); len(x) != 0 {
		t.Errorf("SmallestFunc of no elements: %v, want none", x)
	}
}

// Numbers and lengths that make no sense, and options.
func TestNumbersThatCannotBeAreRefused(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	x := []int{1, 2, 3}
	for want, f := range map[string]func(){
		"par: For: n is -1, which is negative":                func() { For(p, -1, func(int) {}) },
		"par: ForScope: n is -1, which is negative":           func() { ForScope(p, -1, func(filch.Scope, int) {}) },
		"par: ForRange: n is -1, which is negative":           func() { ForRange(p, -1, func(_, _ int) {}) },
		"par: CountRange: n is -1, which is negative":         func() { CountRange(p, -1, func(_, _ int) int { return 0 }) },
		"par: IndexRange: n is -1, which is negative":         func() { IndexRange(p, -1, func(_, _ int) int { return -1 }) },
		"par: AllRange: n is -1, which is negative":           func() { AllRange(p, -1, func(_, _ int) bool { return true }) },
		"par: ReduceInto: n is -1, which is negative":         func() { ReduceInto(p, -1, newInt, intoInt, mergeInt) },
		"par: ReduceIntoRange: n is -1, which is negative":    func() { ReduceIntoRange(p, -1, newInt, rangeInto, mergeInt) },
		"par: ForInit: n is -1, which is negative":            func() { ForInit(p, -1, newInt, intoInt) },
		"par: ForRangeInit: n is -1, which is negative":       func() { ForRangeInit(p, -1, newInt, rangeInto) },
		"par: Collect: n is -1, which is negative":            func() { Collect(p, -1, func(_, _ int, out []int) []int { return out }) },
		"par: WithMaxWorkers(0): there must be a worker":      func() { WithMaxWorkers(0) },
		"par: WithMaxWorkers(-1): there must be a worker":     func() { WithMaxWorkers(-1) },
		"par: WithAlign(0): a chunk must have an element":     func() { WithAlign(0) },
		"par: WithAlign(-1): a chunk must have an element":    func() { WithAlign(-1) },
		"par: ForTiles: there is nothing for WithAlign to do": func() { ForTiles(p, 1, 1, func(_, _, _, _ int) {}, WithAlign(2)) },
		"par: MapSeq: there is nothing for WithAlign to do": func() {
			for range MapSeq(p, slices.Values(x), func(v int) int { return v }, WithAlign(2)) {
			}
		},
		"par: FromSeq: there is nothing for WithAlign to do":      func() { FromSeq(p, slices.Values(x), func(int) {}, WithAlign(2)) },
		"par: Pipeline.Run: there is nothing for WithAlign to do": func() { From(slices.Values(x)).Run(p, func(int) error { return nil }, WithAlign(2)) },
		"par: Collect: there is nothing for AllErrors to do":      func() { Collect(p, 1, func(_, _ int, out []int) []int { return out }, AllErrors()) },
		"par: ReduceInto: there is nothing for WithContext to do": func() { ReduceInto(p, 1, newInt, intoInt, mergeInt, WithContext(context.Background())) },
		"par: ForErr: n is -1, which is negative":                 func() { ForErr(p, -1, func(int) error { return nil }) },
		"par: ForTiles: width is -1, which is negative":           func() { ForTiles(p, -1, 1, func(_, _, _, _ int) {}) },
		"par: ForTiles: height is -2, which is negative":          func() { ForTiles(p, 1, -2, func(_, _, _, _ int) {}) },
		"par: Merge: dst has 3 elements, and x 4":                 func() { Merge(p, x, x, x[:1]) },
		"par: MergeFunc: dst has 3 elements, and x 2":             func() { MergeFunc(p, x, x[:1], x[:1], cmp.Compare[int]) },
		"par: ScanExclusive: dst has 3 elements, and x 2": func() {
			ScanExclusive(p, x, x[:2], 0, add)
		},
		"par: PrefixSum: dst has 3 elements, and x 2":                            func() { PrefixSum(p, x, x[:2]) },
		"par: PrefixSumExclusive: dst has 2 elements, and x 3":                   func() { PrefixSumExclusive(p, x[:2], x, 0) },
		"par: MapInto: dst has 2 elements, and x 3":                              func() { MapInto(p, x[:2], x, func(v int) int { return v }) },
		"par: WithGrain(-1): a chunk must have an element":                       func() { WithGrain(-1) },
		"par: InFlight(-1): the number of values must be from 1 to 1000000":      func() { InFlight(-1) },
		"par: InFlight(1000001): the number of values must be from 1 to 1000000": func() { InFlight(1_000_001) },
		"par: Map: option 1 is nil":                                              func() { Map(p, x, func(v int) int { return v }, WithGrain(1), nil) },
		"par: Map: there is nothing for WithContext to do":                       func() { Map(p, x, func(v int) int { return v }, WithContext(context.Background())) },
		"par: ForRange: there is nothing for AllErrors to do":                    func() { ForRange(p, 1, func(_, _ int) {}, AllErrors()) },
		"par: Pipeline.Run: there is nothing for AllErrors to do":                func() { From(slices.Values(x)).Run(p, func(int) error { return nil }, AllErrors()) },
		"par: StageScope: the function is nil":                                   func() { StageScope[int, int](From(slices.Values(x)), 1, nil) },
		"par: StageScope: width is -1, which is negative": func() {
			StageScope(From(slices.Values(x)), -1, func(filch.Scope, int) (int, error) { return 0, nil })
		},
		"par: ForTiles: 144115188075855872 times 144115188075855872 tiles are too many": func() {
			ForTiles(p, math.MaxInt, math.MaxInt, func(_, _, _, _ int) {})
		},
	} {
		if math.MaxInt == math.MaxInt32 && strings.Contains(want, "too many") {
			continue
		}
		if v := fmt.Sprint(rig.Catch(f)); v != want {
			t.Errorf("%s, not %s", v, want)
		}
	}
	for _, n := range []int{1, 1_000_000} {
		InFlight(n)
	}
}

// What functions return that is no index, and no bucket, is told.
func TestResultsOutOfRangeAreTold(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	x := []int{1, 2, 3}
	for _, at := range []int{-2, 3, math.MaxInt, math.MinInt} {
		for _, n := range []int{1, 3} {
			v := rig.Catch(func() { IndexRange(p, n, func(_, _ int) int { return at }) })
			if err, ok := v.(*filch.PanicError); !ok || !strings.HasPrefix(fmt.Sprint(err.Value), fmt.Sprintf("par: IndexRange: f returned %d for the indices from 0 to", at)) {
				t.Errorf("IndexRange, %d: %v", at, v)
			}
		}
	}
	for _, bucket := range []int{-1, 3, math.MaxInt, math.MinInt} {
		var err *filch.PanicError
		v := rig.Catch(func() { Histogram(p, x, 3, func(int) int { return bucket }) })
		if e, ok := v.(error); !ok || !errors.As(e, &err) || err.Value != fmt.Sprintf("par: Histogram: bucket %d of 3", bucket) {
			t.Errorf("bucket %d: %v", bucket, v)
		}
	}
}

// Up to which length no pool is needed, and no workers are asked, whatever elements cost.
func TestHowMuchIsLittle(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	p.Close()
	random := rand.New(rand.NewPCG(1, 2)).Perm
	for name, c := range map[string]struct {
		most int
		run  func(n int)
	}{
		"SortFunc":       {1024, func(n int) { SortFunc(p, random(n), cmp.Compare[int]) }},
		"Sort":           {1024, func(n int) { Sort(p, random(n)) }},
		"SortStableFunc": {2048, func(n int) { SortStableFunc(p, random(n), cmp.Compare[int]) }},
		"Merge":          {4096, func(n int) { Merge(p, make([]int, n), make([]int, n/2), make([]int, n-n/2)) }},
		"MergeFunc":      {4096, func(n int) { MergeFunc(p, make([]int, n), make([]int, n/2), make([]int, n-n/2), cmp.Compare[int]) }},
		"Sum":            {8192, func(n int) { Sum(p, make([]int, n)) }},
		"MinMax":         {8192, func(n int) { MinMax(p, make([]int, n)) }},
		"FilterBetween":  {8192, func(n int) { FilterBetween(p, make([]int, n), 0, 1) }},
		"CountBetween":   {8192, func(n int) { CountBetween(p, make([]int, n), 0, 1) }},
		"PrefixSum":      {scanBlock / 2, func(n int) { PrefixSum(p, make([]int16, n), make([]int16, n)) }},
		"Fill":           {8192, func(n int) { Fill(p, make([]int64, n), 1) }},
		"Copy":           {1 << 15, func(n int) { Copy(p, make([]int64, n), make([]int64, n)) }},
	} {
		for i := range costs {
			costs[i].of.Store(0)
		}
		if v := rig.Catch(func() { c.run(c.most) }); v != nil {
			t.Errorf("%s of %d on a closed pool: %v", name, c.most, v)
		}
		if v := rig.Catch(func() { c.run(c.most + 1) }); v == nil {
			t.Errorf("%s of %d on a closed pool", name, c.most+1)
		}
	}
}

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
