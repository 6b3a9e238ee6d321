package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A small module is measured as one would by hand.
func TestASmallModuleIsMeasuredAsByHand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.26\n",
		"low.go":       "package m\n\ntype word struct{ n int }\n\nfunc (w *word) up() { w.n++ }\n\nfunc low() int { return high }\n",
		"top.go":       "package m\n\nimport \"example.com/m/sub\"\n\nvar high = sub.N\n\nfunc (w *word) down() {\n\tw.n--\n\tw.up()\n}\n",
		"low_test.go":  "package m\n\nvar _ = low\n",
		"sub/sub.go":   "package sub\n\nimport \"example.com/m/leaf\"\n\nvar N = leaf.N\n",
		"leaf/leaf.go": "package leaf\n\nvar N = 1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal("os.MkdirAll(filepath.Dir(path), 0o777):", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(path, []byte(text), 0o666):", err)
		}
	}
	t.Setenv("GOWORK", "off")
	old := order
	defer func() { order = old }()
	order = "leaf . low.go # words\ntop.go\nsub\n"
	h, err := measure(dir)
	if err != nil {
		t.Fatal("measure(dir):", err)
	}
	var b strings.Builder
	h.print(&b, 3)
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		". 2 17", "sub 1 5",
		"imports between folders: 2; upward: 1 . to sub",
		"between the root's files: 2 pairs, 4 names; upward: 1 pairs, 1 names low.go to top.go 1",
		"largest files lines top.go 10 low.go 7",
		"longest functions file lines word.down top.go 4",
		"types methods in files word 2 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if len(h.unknown) > 0 {
		t.Errorf("unknown: %v", h.unknown)
	}
}

var measured = sync.OnceValues(func() (*house, error) { return measure("../..") })

// ours returns this repository, measured once. With -short it skips the test: no platform and no
// race detector changes what is written.
func ours(t *testing.T) *house {
	t.Helper()
	if testing.Short() {
		t.Skip("it judges the source, and runs without -short")
	}
	h, err := measured()
	if err != nil {
		t.Fatal("measured():", err)
	}
	return h
}

// Nothing knows what stands above it: no folder, and no file of the root. All have their place
// in order.txt.
func TestNothingPointsUpward(t *testing.T) {
	h := ours(t)
	if len(h.unknown) > 0 {
		t.Fatalf("not in internal/house/order.txt: %v", h.unknown)
	}
	for _, r := range h.upward(h.imports) {
		t.Errorf("%s imports %s, which stands above it", r.from, r.to)
	}
	for _, r := range h.upward(h.doors) {
		t.Errorf("%s refers to %s, which stands above it", r.from, r.to)
	}
	for name := range h.floors {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Errorf("order.txt: %v", err)
		}
	}
	for _, f := range h.files {
		if f.lines > 500 {
			t.Errorf("%s has %d lines", f.name, f.lines)
		}
	}
}

// A type with more than 25 methods, or with methods in more than three files, says why.
func TestLargeTypesSayWhy(t *testing.T) {
	h := ours(t)
	for name, x := range h.types {
		if x.methods <= 25 && len(x.files) <= 3 {
			continue
		}
		_, base, ok := strings.Cut(name, ".")
		if !ok {
			base = name
		}
		says := false
		for file := range x.files {
			all, err := filepath.Glob(filepath.Join("../..", filepath.Dir(file), "*.go"))
			if err != nil {
				t.Fatal("filepath.Glob(…):", err)
			}
			for _, f := range all {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal("os.ReadFile(f):", err)
				}
				says = says || strings.Contains(string(b), "\ntype "+base+" struct {\n\t// Its methods stand with")
			}
			break
		}
		if !says {
			t.Errorf("%s has %d methods in %d files, and does not say why", name, x.methods, len(x.files))
		}
	}
}

// The root is what users see, and no more; its Pool and the engine's Worker are not what everything is a method of.
func TestTheRootIsTheFace(t *testing.T) {
	h := ours(t)
	files, lines := 0, 0
	for _, f := range h.files {
		if !strings.Contains(f.name, "/") {
			files++
			lines += f.lines
		}
	}
	if files == 0 || files > 32 || lines > 6500 {
		t.Errorf("the root has %d files with %d lines", files, lines)
	}
	for name, most := range map[string]int{"Pool": 60, "engine.Worker": 80} {
		if n := h.types[name].methods; n > most {
			t.Errorf("%s has %d methods", name, n)
		}
	}
}

// What watches, and what decorates, is named in few files beside its own.
func TestInstrumentsAreMentionedInFewFiles(t *testing.T) {
	for _, i := range ours(t).instruments {
		if n := len(i.mentions); n > i.most || n == 0 && i.most > 0 {
			t.Errorf("%s: %d files mention it, and may at most %d do: %v", i.name, n, i.most, slices.Sorted(maps.Keys(i.mentions)))
		}
		for of := range i.of {
			if _, err := os.Stat(filepath.Join("../..", of)); err != nil && of != "runtime/trace" {
				t.Errorf("instruments.txt: %s: %v", i.name, err)
			}
		}
	}
}

// Where a plain path must differ with the race detector, a constant says so, in few files: elsewhere, predicates and functions that are empty
// without the detector do.
func TestTheDetectorIsAskedForInFewFiles(t *testing.T) {
	ours(t)
	const most = 15
	var in []string
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/internal/race/") {
			return err
		}
		b, err := os.ReadFile(path)
		if slash := filepath.ToSlash(path); strings.Contains(string(b), "race.Enabled") && !strings.Contains(slash, "/internal/house/") && !strings.Contains(slash, "/internal/rig/") {
			in = append(in, path)
		}
		return err
	})
	if err != nil || len(in) > most || len(in) == 0 {
		t.Errorf("%v; race.Enabled stands in %d files, and not in %d at most: %v", err, len(in), most, in)
	}
}

// A test is read at a glance: no function of a test file is longer than 80 lines. Tables stand outside, and what is done to one
// case is a function of its own.
func TestFunctionsOfTestsAreShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges the source, and runs without -short")
	}
	const most = 80
	files := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || path != "../.." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > most {
					t.Errorf("%s: %s has %d lines, more than %d: put its table, or what is done to one case, outside", fset.Position(fn.Pos()), fn.Name.Name, n, most)
				}
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("filepath.WalkDir(…): %v, %d files", err, files)
	}
}
