package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// small are sizes to test with.
var small = map[string][]string{
	"fib":       {"0", "1", "2", "18"},
	"wide":      {"4", "5", "8"},
	"nqueens":   {"1", "2", "3", "4", "7"},
	"skynet":    {"1", "10", "1000"},
	"treesum":   {"1", "127"},
	"integrate": {"1", "5"},
	"quicksort": {"0", "1", "2", "20000"},
	"mergesort": {"0", "1", "2", "20000"},
	"matmul":    {"1", "63", "130"},
	"uts":       {"T1/5", "T3/99"},
	"goparse":   {"all", "sample"},
	"pizza":     {"1/10"},
	"health":    {"tiny"},
	"hull":      {"1", "9", "9000"},
	"spawns":    {"1", "1000"},
	"words":     {"0", "1", "20000"}, "build": {"1", "2", "300"},
	"bfs":       {"1", "5000"},
	"nbody":     {"1", "9", "1200"},
	"alignment": {"2", "8"},
	"tsp":       {"2", "3", "9"},
	"sparselu":  {"1", "2", "6"},
	"strassen":  {"128", "256"},
	"fft":       {"2", "4", "8", "2048", "16384"},
}

// Every workload gives the right answer on every executor that can run it.
func TestEveryWorkloadIsRightOnEveryExecutor(t *testing.T) {
	for _, w := range Every() {
		for _, size := range small[w.Name] {
			t.Run(w.Name+" "+size, func(t *testing.T) {
				if w.Name == "pizza" {
					synctest.Test(t, func(t *testing.T) { testAnswers(t, w, size) })
				} else {
					testAnswers(t, w, size)
				}
			})
		}
	}
}

func testAnswers(t *testing.T, w *Workload, size string) {
	j, err := w.Prepare(size, Env{Input: sources(t)})
	if err != nil {
		t.Fatal("w.Prepare(size, …):", err)
	}
	if j.Load != nil {
		j.Load()
	}
	want := j.Want
	widths, rounds := []int{1, 2, 3, 8, 64}, 2
	if thorough.Sampled() {
		widths, rounds = []int{1, 3}, 1
	}
	for _, e := range Executors {
		for _, workers := range widths {
			if e.Name == "serial" && workers > 1 || e.Name == "at-once" && workers > 3 || w.Name == "wide" && !e.Cheap || e.Apart && workers > 3 {
				continue
			}
			r, err := e.Start(j, workers)
			if err != nil {
				continue
			}
			for range rounds {
				if j.Reset != nil {
					j.Reset()
				}
				start := time.Now()
				got := r.Run()
				took := time.Since(start)
				if j.Answer != nil {
					got = j.Answer()
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s on %d workers: %s; want %s", e.Name, workers, got, want)
				}
				if j.Note != nil {
					note := j.Note(workers, took)
					var share float64
					if _, err := fmt.Sscanf(note, "%f of the greedy bound", &share); w.Name == "pizza" && e.Name != "goroutine" && (err != nil || share > 1.001) {
						t.Errorf("%s on %d workers: %s", e.Name, workers, note)
					}
				}
			}
			r.Close()
		}
	}
	if w.Name == "goparse" && size == "all" && want != "8 declarations in 2 files, 1 more do not parse" {
		t.Error("j.Want:", want)
	}
}

// A file beyond the limit is counted like those that do not parse, is named together
// with the limit, and takes no more memory than the limit; one that reaches it is parsed.
func TestLargeFilesAreNotParsed(t *testing.T) {
	dir := t.TempDir()
	const src = "package a\n\nvar x int\n"
	for name, size := range map[string]int{"reaches.go": maxSource, "exceeds.go": maxSource + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src+strings.Repeat(" ", size-len(src))), 0o644); err != nil {
			t.Fatal("os.WriteFile(filepath.Join(dir, name), …, 0o644):", err)
		}
	}
	huge := filepath.Join(dir, "huge.go")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal("os.WriteFile(huge, nil, 0o644):", err)
	}
	if err := os.Truncate(huge, 256<<20); err != nil {
		t.Skip(err)
	}
	j, err := goparse.Prepare("all", Env{Input: dir})
	if err != nil {
		t.Fatal(`goparse.Prepare("all", …):`, err)
	}
	j.Serial()
	if got, want := j.Answer(), "1 declarations in 1 files, 2 more do not parse"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := fmt.Sprintf("2 of 3 files do not parse: %s (larger than 16777216 bytes), %s (larger than 16777216 bytes)", filepath.Join(dir, "exceeds.go"), huge)
	if got := j.Note(1, 0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	countDecls(huge)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*maxSource {
		t.Errorf("%d bytes for a file that is too large", took)
	}
}

// sources returns a folder with two good files and a bad one.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "src"))); err != nil {
		t.Fatal("os.CopyFS(dir, …):", err)
	}
	bad := filepath.Join(dir, "deep", "bad.go")
	if err := os.Rename(bad+".txt", bad); err != nil {
		t.Fatal(`os.Rename(bad+".txt", bad):`, err)
	}
	return dir
}

func TestAnswersAreThoseThatAreKnown(t *testing.T) {
	for _, c := range []struct{ workload, size, want string }{
		{"fib", "35", "9227465"}, {"fib", "38", "39088169"}, {"fib", "40", "102334155"},
		{"nqueens", "12", "14200"}, {"nqueens", "13", "73712"}, {"nqueens", "14", "365596"},
		{"skynet", "1000000", "499999500000"},
		{"integrate", "100", "25005000"},
		{"integrate", "10000", "2500000050000000"},
		{"uts", "T1", "4130071 nodes, 3305118 leaves, depth 10"},
		{"uts", "T3", "4112897 nodes, 3599034 leaves, depth 1572"},
		// These are those of the Barcelona suite's inputs test.input, small.input and medium.input.
		{"health", "test", "7280 people, 343 hospitals, staff of 728, 5531 visits; 7160 at home, 80 wait, 26 are examined, 14 inside; average stay 5.259341"},
		{"health", "small", healthSizes["small"].want},
		{"health", "medium", healthSizes["medium"].want},
		{"uts", "T1L", "102181082 nodes, 81746377 leaves, depth 13"},
	} {
		w, err := Find(c.workload)
		if err != nil {
			t.Fatal("Find(c.workload):", err)
		}
		j, err := w.Prepare(c.size, Env{})
		if err != nil {
			t.Fatal("w.Prepare(c.size, …):", err)
		}
		if j.Want != c.want {
			t.Errorf("%s %s: %s, not %s", c.workload, c.size, j.Want, c.want)
		}
		// The serial program says so too, where it takes but a moment.
		if !thorough.Sampled() && c.size != "40" && c.size != "14" && c.size != "10000" && c.size != "T1L" && c.size != "medium" {
			if j.Load != nil {
				j.Load()
			}
			got := j.Serial()
			if j.Answer != nil {
				got = j.Answer()
			}
			if got != c.want {
				t.Errorf("%s %s: computed %s, not %s", c.workload, c.size, got, c.want)
			}
		}
		if c.workload == "fib" && j.Forks != map[string]int64{"35": 14930351, "38": 63245985, "40": 165580140}[c.size] {
			t.Errorf("fib %s: %d forks", c.size, j.Forks)
		}
	}
}

func TestSizesThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct{ workload, size, input, want string }{
		{"fib", "x", "", `fib: size "x" is not a number from 0 to 50`},
		{"fib", "51", "", "not a number from 0 to 50"},
		{"wide", "3", "", `wide: unknown size "3"; there are 4, 5 and 8 words`},
		{"nqueens", "0", "", "nqueens: size"},
		{"skynet", "500", "", "not a power of ten"},
		{"treesum", "1024", "", "not one less than a power of two"},
		{"integrate", "-1", "", "integrate: size"},
		{"quicksort", "many", "", "quicksort: size"},
		{"mergesort", "", "", "mergesort: size"},
		{"matmul", "0", "", "matmul: size"},
		{"uts", "T9", "", `uts: unknown size "T9"; there are [T1 T1/5 T1/7 T1/9 T1L T3 T3/99]`},
		{"goparse", "some", "", "goparse: unknown size"},
		{"goparse", "all", "no/such/folder", "no/such/folder"},
		{"goparse", "all", t.TempDir(), "no .go file"},
		{"pizza", "2", "", "pizza: unknown size"},
		{"health", "huge", "", `health: unknown size "huge"; there are [medium small test tiny]`},
		{"fft", "1000", "", "not a power of two"},
		{"fft", "1", "", "fft: size"},
		{"sparselu", "0", "", "sparselu: size"},
		{"strassen", "64", "", "strassen: size"},
		{"strassen", "384", "", "not a power of two"},
		{"alignment", "1", "", "alignment: size"},
		{"tsp", "1", "", "tsp: size"},
		{"bfs", "0", "", "bfs: size"},
		{"nbody", "none", "", "nbody: size"},
		{"hull", "0", "", "hull: size"},
		{"words", "-1", "", "words: size"},
		{"build", "0", "", "build: size"},
		{"spawns", "0", "", "spawns: size"},
	} {
		w, err := Find(c.workload)
		if err != nil {
			t.Fatal("Find(c.workload):", err)
		}
		if _, err := w.Prepare(c.size, Env{Input: c.input}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("w.Prepare(c.size, …): %s %q: %v", c.workload, c.size, err)
		}
	}
	if _, err := Find("fob"); err == nil || !strings.Contains(err.Error(), `"fob"; there are fib, wide, nqueens`) {
		t.Error(`Find("fob"):`, err)
	}
	if _, err := FindExecutor("filsh"); err == nil || !strings.Contains(err.Error(), `"filsh"; there are serial, at-once`) {
		t.Error(`FindExecutor("filsh"):`, err)
	}
}

// The sizes that are offered, and measured by default, can be prepared.
func TestDefaultSizes(t *testing.T) {
	for _, w := range Every() {
		if len(w.Sizes) == 0 || len(w.Default) == 0 || small[w.Name] == nil {
			t.Errorf("%s: no sizes", w.Name)
		}
	}
	for _, w := range Strands {
		if j, err := w.Prepare(w.Strand, Env{}); err != nil || j.Strand == nil || j.StrandClosure == nil {
			t.Errorf("%s: %v, or no strands", w.Name, err)
		}
	}
}
