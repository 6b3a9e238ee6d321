package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What breaks.txt names is there: the lines, once in their function, and the tests.
func TestBreaksAreThere(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal("root():", err)
	}
	all, err := breaks(dir, breakList)
	if err != nil {
		t.Error("breaks(dir, breakList):", err)
	}
	tests := map[string]string{} // the text of those of a package
	for _, b := range all {
		if len(b.killers) == 0 {
			t.Errorf("%v: no test is named", b.mutant)
		}
		for _, k := range b.killers {
			if tests[k.pkg] == "" {
				tests[k.pkg] = textOf(t, filepath.Join(dir, filepath.FromSlash(k.pkg), "*_test.go"))
			}
			if !strings.Contains(tests[k.pkg], "\nfunc "+k.name+"(") {
				t.Errorf("%v: there is no test %s in %s", b.mutant, k.name, k.pkg)
			}
		}
	}
}

// textOf returns what is in all files that match.
func textOf(t *testing.T, pattern string) string {
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal("filepath.Glob(pattern):", err)
	}
	var text strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal("os.ReadFile(file):", err)
		}
		text.Write(b)
	}
	return text.String()
}

const broken1 = `package deque

type T[E any] struct{ n int }

func (*T[E]) add(_ int, all ...int) (sum int) {
	for _, v := range all {
		sum += v // a comment
	}

	return sum
}

func zero[E any](bool) int { return 0 }

func (t *T[E]) up() {
	t.n++
	t.n++
}
`

// A whole run, on a module of its own, with functions of all forms: each break is seen by the test that
// sees it, and told of the one that does not.
func TestRunBreaks(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "deque/a.go": broken1,
		"deque/a_test.go": "package deque\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tv := &T[int]{}\n\tv.up()\n\tif v.add(1, 2, 3) != 5 || zero[int](true) != 0 || v.n != 2 {\n\t\tt.Error()\n\t}\n}\n\nfunc TestB(t *testing.T) {}\n",
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
	const list = `deque/a.go: (*T).add
- sum += v
+ sum -= v
TestA

deque/a.go: (*T).add
- return sum
+ return 0
TestA deque:TestB

deque/a.go: zero
- func zero[E any](bool) int { return 0 }
+ func zero[E any](bool) int { return 1 }
TestA

deque/a.go: (*T).up
- t.n++
- t.n++
+ t.n++
TestA
`
	w := what{perTest: time.Minute, match: regexp.MustCompile("")}
	var out strings.Builder
	if err := runListed(dir, list, w, &out); err == nil || err.Error() != "1 times a test did not notice" {
		t.Errorf("runListed(dir, list, w, &out): %v\n%s", err, &out)
	}
	if s := out.String(); strings.Count(s, "killed\t") != 4 || strings.Count(s, "survived\t") != 1 || !strings.Contains(s, "deque: TestB") {
		t.Error("out.String():", s)
	}
	for _, bad := range []string{
		"deque/a.go: (*T).up\n- t.n++\n+\nTestA",        // twice
		"deque/a.go: (*T).down\n- t.n++\n+\nTestA",      // no such function
		"deque/a.go: (*T).up\n- t.n++\n- sum\n+\nTestA", // no such lines
	} {
		if err := runListed(dir, bad, w, &out); err == nil || !strings.Contains(err.Error(), "times, not once") {
			t.Errorf("runListed(dir, bad, w, &out): %q: %v", bad, err)
		}
	}
}
