package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

const source = `package p

type T[E any] struct{ n int }

func (t *T[E]) f(a, b bool, n int) int { // a comment
	if a && b {
		t.n++ // another
	}
	for i := 0; i < n; i++ {
		t.g(i)
	}
	return min(n, 7)
}

func (t T[E]) g(i int) (ok bool, err error) {
	switch {
	case i == 1:
		ok = true
	case i == 2:
		return
	}
	go t.g(0)
	return
}

func zero() bool { return false }

func none() S { return S{} }
`

func TestOperators(t *testing.T) {
	ms, err := mutants("p.go", []byte(source))
	if err != nil {
		t.Fatal(`mutants("p.go", []byte(source)):`, err)
	}
	var got []string
	for _, m := range ms {
		got = append(got, m.function+": "+oneLine(m.before)+" => "+oneLine(m.after))
		if _, err := parser.ParseFile(token.NewFileSet(), "", m.source, 0); err != nil {
			t.Errorf(`parser.ParseFile(token.NewFileSet(), "", m.source, 0): %s: %v`, m, err)
		}
		if bytes.Equal(m.source, []byte(source)) {
			t.Errorf("%s changes nothing", m)
		}
		if n, want := bytes.Count(m.source, []byte("\n")), strings.Count(source, "\n"); !strings.Contains(m.after, "(nothing)") && n > want {
			t.Errorf("%s: %d lines, not %d", m, n, want)
		}
	}
	for _, want := range []string{
		"(*T).f: if a && b { => if !(a && b) {",
		"(*T).f: if a && b { => if a || b {",
		"(*T).f: if a && b { => return *new(int); if a && b {",
		"(*T).f: t.n++ => t.n--",
		"(*T).f: t.n++ => (nothing)",
		"(*T).f: for i := 0; i < n; i++ { => for i := 0; !(i < n); i++ {",
		"(*T).f: for i := 0; i < n; i++ { => for i := 0; i <= n; i++ {",
		"(*T).f: for i := 0; i < n; i++ { => for i := 1; i < n; i++ {",
		"(*T).f: for i := 0; i < n; i++ { => for i := -1; i < n; i++ {",
		"(*T).f: t.g(i) => (nothing)",
		"(*T).f: return min(n, 7) => return max(n, 7)",
		"(*T).f: return min(n, 7) => return min(n, 8)",
		"(T).g: switch { => return ; switch {",
		"(T).g: case i == 1: => case i != 1:",
		"(T).g: ok = true => ok = false",
		"(T).g: ok = true => (nothing)",
		"(T).g: case i == 1: ⏎ ok = true ⏎ case i == 2: ⏎ return => case i == 1: ⏎ return ⏎ case i == 2: ⏎ ok = true",
		"(T).g: go t.g(0) => (nothing)",
		"zero: func zero() bool { return false } => func zero() bool { return true }",
	} {
		if i := slices.Index(got, want); i < 0 {
			t.Errorf("there is no mutant %s", want)
		} else {
			got = slices.Delete(got, i, i+1)
		}
	}
	for _, m := range got { // twice, or what nobody can notice
		if slices.Contains([]string{"zero: func zero() bool { return false } => func zero() bool { return *new(bool); return false }", "none: func none() S { return S{} } => func none() S { return *new(S); return S{} }"}, m) {
			t.Errorf("there is a mutant %s", m)
		}
	}
}

func TestSampleDependsOnTheSeed(t *testing.T) {
	files := map[string][]mutant{}
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		ms, err := mutants(name, []byte(source))
		if err != nil {
			t.Fatal("mutants(name, []byte(source)):", err)
		}
		files[name] = ms
	}
	text := func(ms []mutant) (s []string) {
		for _, m := range ms {
			s = append(s, m.String())
		}
		return s
	}
	a, again, b := text(sample(files, 1)), text(sample(files, 1)), text(sample(files, 2))
	if !slices.Equal(a, again) {
		t.Error("one seed gives two samples")
	}
	if slices.Equal(a, b) {
		t.Error("two seeds give one sample")
	}
	if len(a) != 3*len(files["a.go"]) {
		t.Errorf("%d mutants", len(a))
	}
	for i := 0; i < 30; i += 3 { // each file in its turn
		for _, name := range []string{"a.go", "b.go", "c.go"} {
			if !slices.ContainsFunc(a[i:i+3], func(s string) bool { return strings.HasPrefix(s, name) }) {
				t.Errorf("%s has no mutant among %v", name, a[i:i+3])
			}
		}
	}
	of := func(all []string) (s []string) {
		for _, m := range all {
			if strings.HasPrefix(m, "a.go") {
				s = append(s, m)
			}
		}
		return s
	}
	delete(files, "b.go")
	if c := text(sample(files, 1)); !slices.Equal(of(c), of(a)) {
		t.Error("what is taken of a file depends on the others")
	}
}

func TestEquivalents(t *testing.T) {
	es, err := equivalents(`# A comment.

p.go: (*T).f
- return min(n, 7)
Any number will do,
or so.

p.go: (*T).f
- t.n++
+
Nobody reads it.

p.go: (T).g
- case i == 1:
+ ...
Whatever.
`)
	if err != nil || len(es) != 3 || es[0].reason != "Any number will do, or so." {
		t.Fatal("equivalents(…):", es, err)
	}
	ms, err := mutants("p.go", []byte(source))
	if err != nil {
		t.Fatal(`mutants("p.go", []byte(source)):`, err)
	}
	found := map[*equivalent]int{}
	for _, m := range ms {
		if e := find(es, m); e != nil {
			found[e]++
		}
	}
	if found[es[0]] != 2 || found[es[1]] != 1 || found[es[2]] != 3 {
		t.Errorf("%v", found)
	}
	for _, m := range ms {
		m.file = "q.go"
		if find(es, m) != nil {
			t.Error("an entry for another file")
		}
	}
	var out strings.Builder
	if warn(&out, map[string][]mutant{"p.go": ms}, es); out.Len() > 0 {
		t.Error(out.String())
	}
	if warn(&out, nil, es); strings.Count(out.String(), "\n") != 3 {
		t.Error(out.String())
	}
	for _, bad := range []string{"no function\n- a\nb", "p.go: f\nno line", "p.go: f\n- a\n+ b"} {
		if es, err := equivalents(bad); err == nil {
			t.Errorf("%q is accepted: %+v", bad, es)
		}
	}
}

func TestListIsWellFormed(t *testing.T) {
	if _, err := equivalents(list); err != nil {
		t.Error("equivalents(list):", err)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		out          string
		failed, late bool
		want         verdict
	}{
		{"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n", false, false, verdict{survived, "TestA"}},
		{"=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n", true, false, verdict{killed, "TestA"}},
		{"=== RUN   TestA\n=== RUN   TestA/b\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n", true, false, verdict{killed, "TestA/b"}},
		{"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: boom\n", true, false, verdict{killed, "TestB"}},
		{"=== RUN   TestA\npanic: deadlock: main bubble goroutine has exited but blocked goroutines remain\n", true, false, verdict{deadlock, "TestA"}},
		{"=== RUN   TestA\nfatal error: all goroutines are asleep - deadlock!\n", true, false, verdict{deadlock, "TestA"}},
		{"=== RUN   TestA\n", true, true, verdict{hung, "TestA"}},
		{"=== RUN   TestHiddenBlockingDoesNotDeadlock\n--- FAIL: TestHiddenBlockingDoesNotDeadlock (0.00s)\n", true, false, verdict{killed, "TestHiddenBlockingDoesNotDeadlock"}},
	} {
		w := newWatch(time.Hour, nil)
		w.Write([]byte(c.out[:len(c.out)/2]))
		w.Write([]byte(c.out[len(c.out)/2:]))
		got := w.verdict(c.failed, c.late)
		if got.how == survived {
			got.by = c.want.by
		}
		if got != c.want {
			t.Errorf("%q: %v, not %v", c.out, got, c.want)
		}
	}
	late := make(chan bool)
	newWatch(time.Millisecond, func() { close(late) })
	<-late
}

func TestTable(t *testing.T) {
	s := scores{}
	err := s.read(strings.NewReader(`# seed 1, 5 mutants
killed	a.go:1	f	x  =>  y	TestA	1s
deadlock	a.go:2	f	x  =>  y	TestA	1s
survived	a.go:3	f	x  =>  y		1s
equivalent	a.go:4	f	x  =>  y	a reason	0s
hung	b.go:5	f	x  =>  y	TestA	60s
file	mutants
`))
	if err != nil {
		t.Fatal("s.read(…):", err)
	}
	var out strings.Builder
	s.print(&out)
	var got [][]string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Fields(line))
	}
	want := [][]string{{"a.go", "4", "1", "2", "0", "1", "66"}, {"b.go", "1", "0", "1", "1", "0", "100"}, {"all", "5", "1", "3", "1", "1", "75"}}
	if !slices.EqualFunc(got[1:], want, slices.Equal[[]string]) {
		t.Errorf("%v", got)
	}
}

// A whole run, on a module of its own: what the test sees is killed, what it does not see survives,
// what is endless is late, and what does not compile does not count. Nothing is edited.
func TestJudge(t *testing.T) {
	thorough.Only(t, "compiles each of some mutants")
	dir := t.TempDir()
	const a = `package deque

func f(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i
	}
	unseen = 1
	if raceEnabled {
		seen = n
	}
	return s
}

var unseen, seen int
`
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "deque/a.go": a,
		"deque/a_test.go": "package deque\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif f(4) != 6 || raceEnabled && seen != 4 {\n\t\tt.Error()\n\t}\n}\n",
		"deque/race.go":   "//go:build race\n\npackage deque\n\nconst raceEnabled = true\n",
		"deque/norace.go": "//go:build !race\n\npackage deque\n\nconst raceEnabled = false\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal("os.MkdirAll(filepath.Dir(file), 0o700):", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal("os.WriteFile(file, []byte(text), 0o600):", err)
		}
	}
	t.Setenv("GOWORK", "off")
	ms, err := mutants("deque/a.go", []byte(a))
	if err != nil {
		t.Fatal(`mutants("deque/a.go", []byte(a)):`, err)
	}
	r := runner{dir: dir, perTest: 2 * time.Second, own: true}
	if err := r.sound(ms); err != nil {
		t.Fatal("r.sound(ms):", err)
	}
	for change, want := range map[string]string{
		"s += i  =>  s -= i": killed, "i < n; i++ {  =>  for i := 0; i <= n": killed, "unseen = 1  =>  (nothing)": survived,
		"seen = n  =>  (nothing)":             killed, // by the tests with the race detector alone
		"i++ {  =>  for i := 0; i < n; i-- {": hung, "return s  =>  (nothing)": "",
	} {
		for _, m := range ms {
			if strings.Contains(m.String(), change) {
				v, err := r.judge(m)
				if err != nil || v.how != want {
					t.Errorf("%s: %v, %v, not %s", m, v, err, want)
				}
				want = ""
			}
		}
		if want != "" {
			t.Errorf("there is no mutant %s", change)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "deque/a.go")); err != nil || string(b) != a {
		t.Error("the source was edited")
	}
	bad := mutant{file: "deque/a.go", source: []byte("package deque\n\nfunc f() {}\n")}
	if v, err := r.judge(bad); err != nil || v.how != broken {
		t.Errorf("r.judge(bad): %v, %v", v, err)
	}
}

// A package that comes to the workspace is mutated without being named here, and those that are named exist.
func TestPackagesOfTheWorkspaceAreMutated(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal("the root of the module:", err)
	}
	all, err := mutated(dir)
	if err != nil {
		t.Fatal("the packages of the workspace:", err)
	}
	var folders []string
	for _, p := range all {
		folders = append(folders, p.folder)
	}
	for _, folder := range []string{".", "flow", "cluster", "internal/sim", "internal/affinity", "internal/topology"} {
		if !slices.Contains(folders, folder) {
			t.Errorf("%s is not mutated, only %q", folder, folders)
		}
	}
	for _, folder := range slices.Concat(slices.Collect(maps.Keys(above)), withRace) {
		if !slices.Contains(folders, folder) {
			t.Errorf("%s is named in above or withRace, and is not mutated", folder)
		}
	}
}
