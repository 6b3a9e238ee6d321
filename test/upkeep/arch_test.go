package upkeep

import (
	gobuild "go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/filch-go/filch"

// mayImport is the order of the packages: what each may import of ours.
var mayImport = map[string][]string{
	"internal/clock":           {},
	"internal/environ":         {},
	"internal/event":           {},
	"internal/exported":        {},
	"internal/race":            {},
	"internal/race/racetest":   {"internal/environ", "internal/race"},
	"internal/goroutine":       {},
	"internal/standby":         {},
	"internal/line":            {},
	"internal/tag":             {},
	"internal/browser":         {},
	"internal/guard":           {},
	"internal/page":            {"internal/guard"},
	"internal/playground":      {"internal/sim", "internal/sim/cache", "internal/sim/dag"},
	"internal/house":           {},
	"internal/model":           {},
	"internal/processor":       {},
	"internal/mutate":          {},
	"steal":                    {"internal/processor", "internal/topology"},
	"internal/policy":          {"steal"},
	"internal/simd":            {},
	"internal/span":            {},
	"internal/affinity":        {},
	"internal/topology":        {},
	"internal/queue":           {},
	"internal/views":           {},
	"internal/place":           {"internal/race"},
	"internal/place/placetest": {"internal/place"},
	"deque":                    {"internal/race"},
	"ordered":                  {"internal/queue", "internal/race"},
	"internal/sim":             {"internal/policy", "internal/queue", "internal/sim/cache", "internal/sim/dag", "internal/sim/kernel", "internal/sim/random", "internal/sim/wheel", "steal"},
	"internal/sim/cache":       {},
	"internal/sim/dag":         {"internal/sim/cache", "internal/sim/random"},
	"internal/sim/kernel":      {},
	"internal/sim/random":      {},
	"internal/sim/wheel":       {},
	"internal/engine":          {"deque", "internal/affinity", "internal/clock", "internal/event", "internal/goroutine", "internal/place", "internal/policy", "internal/race", "internal/span", "internal/tag", "internal/views", "steal"},
	"internal/circle":          {"internal/line"},
	"internal/checks":          {"internal/engine", "internal/goroutine", "internal/tag", "internal/tell"},
	"internal/tell":            {"internal/engine", "internal/event", "internal/race", "internal/tag"},
	"internal/task":            {"internal/checks", "internal/clock", "internal/engine", "internal/event", "internal/line", "internal/place", "internal/policy", "internal/queue", "internal/race", "internal/standby", "internal/tag", "internal/tell"},
	"":                         {"internal/affinity", "internal/checks", "internal/circle", "internal/clock", "internal/engine", "internal/environ", "internal/event", "internal/line", "internal/place", "internal/race", "internal/span", "internal/standby", "internal/tag", "internal/task", "internal/tell", "internal/topology", "steal"},
	"basic":                    {},
	"bench":                    {},
	"bench/filch":              {"", "internal/workload", "par"},
	"flow":                     {"", "internal/clock", "internal/race", "internal/standby"},
	"strand":                   {"", "internal/clock", "internal/engine", "internal/race", "internal/span", "internal/tag", "internal/views"},
	"examples/crawl":           {""},
	"examples/deadlines":       {""},
	"examples/fetch":           {""},
	"examples/filter":          {"", "par"},
	"examples/gzip":            {"", "par"},
	"examples/kmeans":          {"", "par"},
	"examples/knapsack":        {""},
	"examples/mandelbrot":      {"", "par"},
	"examples/library":         {"", "examples/library/summary"},
	"examples/library/summary": {"", "par"},
	"examples/matmul":          {"", "par/blas"},
	"examples/programs":        {"", "flow", "par"},
	"examples/service":         {"", "par"},
	"examples/suite":           {"internal/workload"},
	"examples/tutorial":        {"", "par", "trace/live"},
	"examples/broken":          {"", "trace", "trace/live"},
	"trace":                    {"", "internal/clock", "internal/event"},
	"trace/graph":              {"", "internal/sim/record"},
	"trace/live":               {"", "internal/event", "internal/guard", "internal/page", "internal/tell", "trace"},
	"examples/tiers":           {""},
	"examples/wordcount":       {"", "par"},
	"internal/conform":         {},
	"internal/thorough":        {},
	"internal/rig":             {"", "internal/affinity", "internal/race", "internal/task", "steal"},
	"par/blas":                 {"", "internal/simd", "par"},
	"par":                      {"", "internal/affinity", "internal/clock", "internal/race", "internal/simd", "internal/span", "internal/standby"},
	"internal/pgo":             {},
	"internal/pictures":        {"", "basic", "deque", "internal/engine", "internal/event", "internal/goroutine", "internal/playground", "internal/policy", "internal/sim", "steal", "trace"},
	"internal/platforms":       {},
	"internal/release":         {},
	"internal/sim/record":      {"", "internal/clock", "internal/event", "internal/sim/dag", "internal/span"},
	"internal/sssp":            {"", "ordered"},
	"internal/statstest":       {},
	"internal/poll":            {},
	"internal/workload":        {"", "basic", "par", "strand"},
}

func TestArrowsPointOneWay(t *testing.T) {
	atRoot(t)
	for dir, pkg := range packages(t) {
		if len(pkg.GoFiles) == 0 {
			continue // of tests alone
		}
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("package %q has no row in mayImport, in test/upkeep/arch_test.go", dir)
			continue
		}
		for _, path := range pkg.Imports {
			ours, ok := strings.CutPrefix(path, module)
			if !ok {
				continue
			}
			if ours = strings.TrimPrefix(ours, "/"); !slices.Contains(allowed, ours) {
				t.Errorf("package %q must not import %q", dir, ours)
			}
		}
	}
}

// The root module requires nothing, in its tests neither.
func TestStandardLibraryOnly(t *testing.T) {
	atRoot(t)
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(`os.ReadFile("go.mod"):`, err)
	}
	if strings.Contains(string(b), "require") {
		t.Errorf("go.mod requires something:\n%s", b)
	}
	for dir, pkg := range packages(t) {
		for _, path := range slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports) {
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && path != module && !strings.HasPrefix(path, module+"/") {
				t.Errorf("package %q imports %s", dir, path)
			}
		}
	}
}

// packages returns the packages of the root module by folder.
func packages(t *testing.T) map[string]*gobuild.Package {
	t.Helper()
	pkgs := map[string]*gobuild.Package{}
	err := filepath.WalkDir(".", func(dir string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != "." {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || d.Name()[0] == '.' || d.Name() == "testdata" {
				return filepath.SkipDir
			}
		}
		pkg, err := gobuild.ImportDir(dir, 0)
		if _, none := err.(*gobuild.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.ToSlash(dir)
		if name == "." {
			name = ""
		}
		pkgs[name] = pkg
		return nil
	})
	if err != nil {
		t.Fatal(`filepath.WalkDir(".", …):`, err)
	}
	return pkgs
}

// One place wraps what is panicked with: panic.go. Others would do it by rules of their own.
func TestPanicsAreWrappedInOnePlace(t *testing.T) {
	atRoot(t)
	for dir, pkg := range packages(t) {
		for _, name := range pkg.GoFiles {
			file := filepath.Join(filepath.FromSlash(dir), name)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal("os.ReadFile(file):", err)
			}
			want := 0
			if file == "panic.go" {
				want = 1
			}
			if n := strings.Count(string(b), "PanicError{"); n != want {
				t.Errorf("%s makes a PanicError in %d places, not %d", file, n, want)
			}
		}
	}
}

// Each write that an ordering argument rests on is labelled (Wn) in a comment
// behind it, and the read that it pairs with (Rn); a pair must not lose its
// half.
func TestOrderingLabelsComeInPairs(t *testing.T) {
	atRoot(t)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	for _, pattern := range []string{"*/*.go", "internal/*/*.go", "test/*/*.go"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	for dir, labels := range labelsByDir(t, files) {
		for l := range labels {
			other := map[byte]string{'W': "R", 'R': "W"}[l[0]] + l[1:]
			if !labels[other] {
				t.Errorf("%s: (%s) has no (%s)", dir, l, other)
			}
		}
	}
}

func labelsByDir(t *testing.T, files []string) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal("os.ReadFile(f):", err)
		}
		dir := filepath.ToSlash(filepath.Dir(f))
		if dir == "internal/explore" {
			continue // which cites the code of others
		}
		if dir == "internal/engine" || dir == "internal/task" {
			dir = "." // their arguments reach into one another
		}
		if found[dir] == nil {
			found[dir] = map[string]bool{}
		}
		for line := range strings.Lines(string(b)) {
			code, comment, ok := strings.Cut(line, "//")
			if strings.TrimSpace(code) == "" {
				continue // an essay that tells of labels is no place where they hold
			}
			for ok && comment != "" {
				var label string
				_, comment, ok = strings.Cut(comment, "(")
				if label, comment, _ = strings.Cut(comment, ")"); isLabel(label) {
					found[dir][label] = true
				}
			}
		}
	}
	return found
}

func isLabel(s string) bool {
	return len(s) > 1 && (s[0] == 'W' || s[0] == 'R') && strings.Trim(s[1:], "0123456789") == ""
}
