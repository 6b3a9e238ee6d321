package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/workload"
)

func invoke(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

func TestBenchMeasuresAndChecks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	status, stdout, stderr := invoke(t, "bench", "fib", "pizza", "--size", "fib=15", "--size", "pizza=1/100",
		"--executors", "basic,filch,filch-chain", "--workers", "1,3", "--runs", "2", "--json", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"fib", "deadlocks", "speed-up", "medians of 2 runs", "not run"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "\x1b") {
		t.Error("colour, though it is no terminal")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var got struct {
		Machine map[string]any
		Rows    []map[string]any
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal("json.Unmarshal(b, &got):", err)
	}
	if got.Machine["go"] == nil || got.Machine["cpus"] == nil {
		t.Errorf("machine: %v", got.Machine)
	}
	if len(got.Rows) != 2*(1+3*2) {
		t.Errorf("%d rows", len(got.Rows))
	}
	for _, r := range got.Rows {
		for _, key := range []string{"workload", "size", "executor", "workers", "runs", "median_ns", "min_ns", "max_ns",
			"serial_ns", "overhead", "speedup", "allocs", "bytes", "cpu_ns", "max_rss_bytes", "steals", "answer", "ok", "note"} {
			if _, ok := r[key]; !ok {
				t.Errorf("a row without %q: %v", key, r)
			}
		}
		switch {
		case r["runs"] == 0.0:
			if r["note"] == "" || r["ok"] == true {
				t.Errorf("a row without runs does not say why: %v", r)
			}
		case r["ok"] != true || r["median_ns"].(float64) <= 0 || r["speedup"].(float64) <= 0 || r["overhead"].(float64) <= 0:
			t.Errorf("%v", r)
		case r["workload"] == "fib" && (r["answer"] != "610" || r["forks"] != 986.0 || r["ns_per_fork"].(float64) <= 0):
			t.Errorf("%v", r)
		}
	}
}

func TestBenchParsesAFolder(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{"a.go": "package a\n\nvar x, y int\n", "b.go": "package {", "c.txt": "no Go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o644); err != nil {
			t.Fatal("os.WriteFile(…):", err)
		}
	}
	file := filepath.Join(t.TempDir(), "out.json")
	args := []string{"bench", "goparse", "--input", dir, "--runs", "1", "--executors", "filch", "--workers", "2", "--json", file}
	status, stdout, stderr := invoke(t, args...)
	if want := "filch: --input: 1 of 2 files do not parse: " + filepath.Join(dir, "b.go") + "\n"; status != 2 || stderr != want {
		t.Errorf("status %d: %s", status, stderr)
	}
	if !strings.Contains(stdout, "goparse") {
		t.Errorf("no figures of the file that does parse:\n%s", stdout)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte(`"1 declarations in 1 files, 1 more do not parse"`)) {
		t.Errorf("os.ReadFile(file): %s, %v", b, err)
	}
	if err := os.Remove(filepath.Join(dir, "b.go")); err != nil {
		t.Fatal(`os.Remove(filepath.Join(dir, "b.go")):`, err)
	}
	if status, _, stderr := invoke(t, args...); status != 0 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestSummaryIsATable(t *testing.T) {
	status, stdout, stderr := invoke(t, "bench", "fib", "treesum", "--size", "fib=15", "--size", "treesum=1023", "--runs", "1", "--executors", "basic,filch", "--markdown")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	lines := strings.Split(stdout, "\n")
	if len(lines) < 6 || lines[0] != "| workload | serial | basic | filch |" || lines[4] != "" ||
		!strings.HasPrefix(lines[2], "| fib 15 |") || !strings.Contains(lines[2], "| deadlocks |") ||
		!strings.Contains(lines[5], "Speed-up over serial with 2 workers") {
		t.Error("invoke(…):", stdout)
	}
}

// A mistake is told in one line, and nothing is measured or written.
func TestAMistakeInBenchIsToldInOneLine(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.json")
	if err := os.WriteFile(kept, []byte("as it was"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(kept, []byte("as it was"), 0o644):`, err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{`unknown workload "fob"; there are fib,`, []string{"fob", "--json", kept}},
		{`; suite is all from health to build, and strand is spawns, fib, nqueens, uts, mergesort; tasks, service, par and sssp are measured apart`, []string{"task"}},
		{`unknown executor "filsh"; there are serial,`, []string{"fib", "--executors", "filsh", "--json", kept}},
		{`fib: size "x" is not a number`, []string{"fib", "--size", "x", "--json", kept}},
		{`workload fib is there twice`, []string{"fib", "fib"}},
		{`workload health is there twice`, []string{"health", "suite"}},
		{`workload fib is there twice: suite and strand stand for all their programs; name one alone`, []string{"strand", "fib"}},
		{`workload "strand" is not measured`, []string{"strand", "--size", "strand=1"}},
		{`spawns: size "0" is not a number from 1`, []string{"strand", "--size", "spawns=0"}},
		{`unknown executor "strands"; there are serial,`, []string{"strand", "--executors", "strands"}},
		{`workload spawns is there twice`, []string{"strand", "strand"}},
		{`"suite" is not measured`, []string{"suite", "--size", "suite=1"}},
		{`--workers: 2 is there twice`, []string{"fib", "--workers", "2,1,2"}},
		{`--executors: filch is there twice`, []string{"fib", "--executors", "filch,filch"}},
		{`which workload's? Write, say, fib=20`, []string{"fib", "uts", "--size", "20"}},
		{`workload "uts" is not measured`, []string{"fib", "--size", "uts=T1"}},
		{`--runs 0: there must be a run`, []string{"fib", "--runs", "0"}},
		{`--workers 0: the number of workers must be from 1`, []string{"fib", "--workers", "0"}},
		{`not whole numbers separated by commas`, []string{"fib", "--workers", "many"}},
		{`no/such/folder`, []string{"goparse", "--input", "no/such/folder", "--json", kept}},
		{`only goparse reads`, []string{"fib", "--input", dir}},
		{`no .go file`, []string{"goparse", "--input", t.TempDir()}},
		{`no/such/file.json`, []string{"fib", "--json", filepath.Join(dir, "no/such/file.json")}},
		{`is a folder`, []string{"fib", "--json", dir}},
		{`unknown flag --rums`, []string{"fib", "--rums", "3"}},
	} {
		status, stdout, stderr := invoke(t, append([]string{"bench"}, c.args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "as it was" {
		t.Errorf("os.ReadFile(kept): %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// What a link leads to is replaced, not the link; and a device is written to.
func TestReportKeepsLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal("os.WriteFile(file, nil, 0o644):", err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for _, target := range []string{link, os.DevNull} {
		f, err := newReportFile("--json", target)
		if err != nil {
			t.Fatal(`newReportFile("--json", target):`, err)
		}
		if err := f.writeJSON(report{}); err != nil {
			t.Fatal("f.writeJSON(…):", err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v: no link any more", info, err)
	}
	if b, err := os.ReadFile(file); err != nil || len(b) == 0 {
		t.Errorf("os.ReadFile(file): %q, %v", b, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v: no device any more", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A pipe is written to by the name of its descriptor, which is a link to nothing that is in a folder.
func TestReportGoesThroughAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal("os.Pipe():", err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	f, err := newReportFile("--json", name)
	if err == nil {
		err = f.write([]byte("all of it"))
	}
	w.Close()
	if b, _ := io.ReadAll(r); err != nil || string(b) != "all of it" {
		t.Errorf(`newReportFile("--json", name): %q, %v`, b, err)
	}
}

// A file that is replaced keeps its permissions, a new one has those of any new file, and a link to nothing stays one.
func TestReportKeepsPermissions(t *testing.T) {
	dir := t.TempDir()
	private, usual, made, link := filepath.Join(dir, "private"), filepath.Join(dir, "usual"), filepath.Join(dir, "made"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(private, nil, 0o600), os.WriteFile(usual, nil, 0o666)); err != nil {
		t.Fatal("errors.Join(…):", err)
	}
	if err := os.Symlink("made", link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{private, link} {
		f, err := newReportFile("--json", path)
		if err != nil {
			t.Fatal(`newReportFile("--json", path):`, err)
		}
		if err := f.writeJSON(report{}); err != nil {
			t.Fatal("f.writeJSON(…):", err)
		}
	}
	mode := func(path string) os.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal("os.Lstat(path):", err)
		}
		return info.Mode()
	}
	if mode(private) != 0o600 || mode(made) != mode(usual) || mode(link)&os.ModeSymlink == 0 {
		t.Errorf("private %v, new %v, of any new file %v, a link %v", mode(private), mode(made), mode(usual), mode(link))
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(`os.Symlink("loop", loop):`, err)
	}
	if _, err := newReportFile("--json", loop); err == nil || !strings.HasPrefix(err.Error(), "--json "+loop+": ") {
		t.Errorf("a link to itself: %v", err)
	}
}

// Each load runs on each pool of tasks, or says why not, and a nested one
// deadlocks exactly where the pool cannot.
func TestEachLoadRunsOnEachPoolOrSaysWhyNot(t *testing.T) {
	for _, p := range taskPools {
		for _, l := range []taskLoad{flood(1000, nothing), recursive(10, 10), flood(10, spinFor(100))} {
			if strings.Contains("channel errgroup ants conc", p.name) && l.tasks == 110 {
				continue // tasks that submit tasks can deadlock there
			}
			if note := l.guarded(p, 2); note != "" {
				t.Errorf("l.guarded(p, 2): %s: %s", p.name, note)
			}
		}
		if strings.HasPrefix(p.name, "filch") || p.name == "goroutine" {
			if note := nested(6).guarded(p, 1); note != "" {
				t.Errorf("%s, nested: %s", p.name, note)
			}
		}
	}
}

// The sweep has a row for each pool, cost and number of workers.
func TestTheSweepHasARowForEachPoolCostAndNumber(t *testing.T) {
	var out strings.Builder
	rows := benchSweep(&out, io.Discard, 20_000, 1)
	if n := 2 * len(sweep.cycles) * len(sweep.workers); len(rows) != n {
		t.Errorf("%d rows, not %d", len(rows), n)
	}
	for _, r := range rows {
		if r.NsPerFork <= 0 || !strings.Contains(out.String(), r.Size) || !strings.Contains(out.String(), fmt.Sprintf("%s, %d", r.Executor, r.Workers)) {
			t.Errorf("%+v", r)
		}
	}
}

func TestAMistakeInBenchTasksIsToldInOneLine(t *testing.T) {
	for _, args := range [][]string{{"tasks", "fib"}, {"tasks", "--executors", "filch"}, {"tasks", "--markdown"}, {"tasks", "--runs", "0"}} {
		if status, stdout, stderr := invoke(t, append([]string{"bench"}, args...)...); status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}

func TestTheListHasProgramsAndExecutors(t *testing.T) {
	status, stdout, _ := invoke(t, "bench", "--list")
	if status != 0 {
		t.Fatal(`invoke(t, "bench", "--list"):`, status)
	}
	for _, want := range []string{"fib", "nqueens", "skynet", "treesum", "integrate", "quicksort", "mergesort", "matmul", "uts", "goparse", "pizza",
		"serial", "goroutine", "semaphore", "basic", "filch", "filch-chain", "filch-join", "The suite", "health", "build"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// The suite stands for its programs, in the place where it is named. They are not measured unless
// they are asked for, and set no goals.
func TestSuiteStandsForItsPrograms(t *testing.T) {
	names := expand([]string{"fib", "suite", "uts"}, "suite", workload.Suite)
	if len(names) != 2+len(workload.Suite) || names[0] != "fib" || names[1] != workload.Suite[0].Name || names[len(names)-1] != "uts" {
		t.Error(`expand(…, "suite", workload.Suite):`, names)
	}
	p, err := newPlan(nil, options{workers: []int{1}, runs: 1})
	if err != nil {
		t.Fatal("newPlan(nil, …):", err)
	}
	for _, g := range p.groups {
		if ofSuite(g.workload.Name) {
			t.Errorf("%s is measured by default", g.workload.Name)
		}
	}
	var rows []*row
	for _, executor := range []string{"serial", "at-once", "filch"} {
		for workers := 1; workers <= 2; workers++ {
			rows = append(rows, &row{Workload: "tsp", Size: "15", Executor: executor, Workers: workers, Runs: 1, Serial: time.Second, Times: []time.Duration{time.Second}})
		}
	}
	if bs := bars(rows, false); len(bs) != 0 {
		t.Error("bars(rows, false):", bs)
	}
}

// Programs of the suite that are neither a recursion by halves nor loops say where they cannot
// run; what is written as loops runs everywhere.
func TestSuiteOnAllExecutors(t *testing.T) {
	status, stdout, stderr := invoke(t, "bench", "build", "bfs", "--size", "build=100,bfs=10000", "--runs", "1", "--workers", "2")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{
		"build on semaphore: not run: its tasks come up as others end", "build on basic: not run: its tasks come up as others end",
		"build, bfs on at-once: not run", "build, bfs on filch-chain: not run",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "bfs on basic") || strings.Contains(stdout, "bfs on semaphore") {
		t.Error("invoke(…):", stdout)
	}
}

// Strand stands for its programs, in sizes and on executors of their own. Those on strands are not
// measured elsewhere unless they are asked for, and say where they cannot run.
func TestStrandStandsForItsPrograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	status, stdout, stderr := invoke(t, "bench", "strand", "-v", "--runs", "1", "--workers", "1,2", "--json", file,
		"--size", "spawns=1000,fib=12,nqueens=6,uts=T1/5,mergesort=1000")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if !strings.Contains(stdout, "steals  open") {
		t.Errorf("no children are counted in\n%s", stdout)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var got report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal("json.Unmarshal(b, &got):", err)
	}
	if n := len(workload.Strands) * (1 + 2*(len(workload.OnStrands)-1)); len(got.Rows) != n {
		t.Errorf("%d rows, not %d", len(got.Rows), n)
	}
	for _, r := range got.Rows {
		if !r.OK || r.Runs != 1 || (r.Open > 0) != (r.Workload == "spawns") || strings.HasPrefix(r.Executor, "strand") && r.Open > int64(r.Workers) {
			t.Errorf("%+v", r)
		}
	}
	p, err := newPlan([]string{"strand"}, options{workers: []int{1}, runs: 1})
	if err != nil {
		t.Fatal("newPlan(…):", err)
	}
	for i, w := range workload.Strands {
		if g := p.groups[i]; g.workload != w || g.size != w.Strand {
			t.Errorf("%s %s is measured for %s", g.workload.Name, g.size, w.Name)
		}
	}
	if p, err = newPlan([]string{"fib"}, options{workers: []int{1}, runs: 1}); err != nil {
		t.Fatal("newPlan(…):", err)
	}
	for _, e := range p.executors {
		if strings.HasPrefix(e.Name, "strand") {
			t.Errorf("%s is measured by default", e.Name)
		}
	}
	_, stdout, stderr = invoke(t, "bench", "health", "--size", "tiny", "--runs", "1", "--workers", "1", "--executors", "strand,strand-closure")
	if !strings.Contains(stdout, "health on strand: not run: not written with strands\n") || strings.Contains(stdout, "steals  open") || stderr != "" {
		t.Error("invoke(…):", stdout, stderr)
	}
}

// A wrong answer is not kept quiet.
func TestWrongAnswersAreTold(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &row{Workload: "fib", Size: "1", Executor: "filch", Workers: 2}
	c := &candidate{row: r}
	c.check("1", "1")
	c.check("2", "1")
	c.check("1", "1")
	if r.OK || !printNotes(&stdout, &stderr, []*row{r}, false) || !strings.Contains(stderr.String(), "WRONG ANSWER: fib 1, filch on 2 workers: 2; want 1") {
		t.Errorf("ok %v: %s", r.OK, stderr.String())
	}
	printRows(&stdout, []*row{r})
	if !strings.Contains(stdout.String(), "filch WRONG") {
		t.Error(stdout.String())
	}
}

// What an executor has not run is told once for each reason, however many rows it has.
func TestNotesAreToldOnce(t *testing.T) {
	var stdout, stderr strings.Builder
	var rows []*row
	for _, workload := range []string{"fib", "uts"} {
		for workers := 1; workers <= 2; workers++ {
			rows = append(rows, &row{Workload: workload, Executor: "basic", Workers: workers, Note: "deadlocks"})
		}
		rows = append(rows,
			&row{Workload: workload, Executor: "at-once", Note: "not run"},
			&row{Workload: workload, Executor: "serial", Runs: 1, OK: true, Note: "of " + workload},
			&row{Workload: workload, Executor: "filch", Runs: 1, OK: true, Note: "in the table"})
	}
	printNotes(&stdout, &stderr, rows, false)
	want := "fib, uts on basic: deadlocks\nfib, uts on at-once: not run\nfib: of fib\nuts: of uts\n"
	if stdout.String() != want || stderr.String() != "" {
		t.Errorf("got %q and %q", stdout.String(), stderr.String())
	}
}

// The list of bars begins with how to read it.
func TestBarsSayHowToReadThem(t *testing.T) {
	var out strings.Builder
	printBars(&out, []bar{{What: "speed", Got: 1, Goal: 2, Unit: "x"}})
	first, rest, _ := strings.Cut(strings.TrimLeft(out.String(), "\n"), "\n")
	if !strings.Contains(first, `"missed" says`) || !strings.Contains(rest, "missed") {
		t.Error(out.String())
	}
}

func TestFiguresHaveFewDigits(t *testing.T) {
	for want, got := range map[string]string{
		"999 ns": duration(999), "1.00 us": duration(1000), "12.3 us": duration(12_345), "1.00 ms": duration(999_999), "75.0 s": duration(75e9),
		"9999": count(9999), "10.0k": count(10_000), "1.50M": count(1_500_000), "2.00G": count(2e9),
		"999k": count(999_499), "1.00M": count(999_999),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if m := median([]int64{4, 1, 3, 2}); m != 2 {
		t.Errorf("median of 1 to 4: %d", m)
	}
}

func TestShortestPathsAreMeasuredOnEachGraph(t *testing.T) {
	dir := t.TempDir()
	gr := filepath.Join(dir, "x.gr")
	if err := os.WriteFile(gr, []byte("c so small\np sp 4 3\na 1 2 5\na 2 3 4\na 3 1 1\n"), 0o644); err != nil {
		t.Fatal("os.WriteFile(gr, …, 0o644):", err)
	}
	file := filepath.Join(dir, "out.json")
	status, stdout, stderr := invoke(t, "bench", "sssp", "--size", "grid=30", "--size", "rmat=6", "--input", gr, "--workers", "1,2", "--runs", "1", "--bars", "--json", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"grid of 30 x 30", "R-MAT of scale 6", "x.gr", "container/heap", "wasted", "of the best serial time", "one run of each"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var got struct {
		Rows []struct {
			Size, Executor, Answer string
			OK                     bool
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal("json.Unmarshal(b, &got):", err)
	}
	if len(got.Rows) != 3*(2+2*2) {
		t.Errorf("%d rows", len(got.Rows))
	}
	for _, r := range got.Rows {
		if !r.OK || r.Size == "x.gr" && r.Answer != "3 of 4 vertices reached" {
			t.Errorf("%+v", r)
		}
	}
	bad := filepath.Join(dir, "bad.gr")
	if err := os.WriteFile(bad, []byte("p sp 2 1\na 1 3 5\n"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(bad, []byte("p sp 2 1\na 1 3 5\n"), 0o644):`, err)
	}
	more := filepath.Join(dir, "more.gr")
	if err := os.WriteFile(more, []byte("p sp 2 1\na 1 2 5\na 2 1 5\n"), 0o644); err != nil {
		t.Fatal("os.WriteFile(more, …, 0o644):", err)
	}
	for want, args := range map[string][]string{
		more + `: line 3: "a 2 1 5" is one more than the 1 arcs that the line p says`: {"--input", more},
		"apart from other workloads":                           {"fib"},
		"knows no --executors":                                 {"--markdown"},
		"--size grid=1: not a number from 2 to 10000":          {"--size", "grid=1"},
		"--size fib=30: sssp has grid=<side> and rmat=<scale>": {"--size", "fib=30"},
		"is a folder; sssp reads a DIMACS .gr file":            {"--input", dir},
		"no such file": {"--input", filepath.Join(dir, "none.gr")},
		`line 2: "a 1 3 5" has a vertex that is not from 1 to 2`: {"--input", bad},
	} {
		status, _, stderr := invoke(t, append([]string{"bench", "sssp"}, args...)...)
		if status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}

// --parallelism prints a row for each workload and form, draws its curve, and leaves out what it does not see.
func TestBenchPrintsHowParallelWorkloadsAre(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "curves")
	status, stdout, stderr := invoke(t, "bench", "--parallelism", "fib", "mergesort", "bfs", "build", "--size", "fib=15,mergesort=3000,bfs=1000,build=100",
		"--executors", "filch,filch-chain,filch-join,strand", "--runs", "2", "--svg", dir)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"T1/Tinf", "burdened", "on 256", " 986 ", "filch-join", "mergesort on filch-chain: not run", "build on filch-join: not run", "bfs on strand: not run", "of 2 runs"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(files) != 4+3+2+1 {
		t.Errorf(`filepath.Glob(filepath.Join(dir, "*.svg")): %v, %v`, files, err)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte("Parallelism ")) {
			t.Errorf("os.ReadFile(file): %s: %v", file, err)
		}
	}
	for want, args := range map[string][]string{
		"pizza sleeps: --parallelism counts what takes processors": {"--parallelism", "fib", "pizza"},
		"--executors: goroutine is none of filch's":                {"--parallelism", "fib", "--executors", "goroutine,filch"},
		"--executors: serial is none of filch's":                   {"--parallelism", "fib", "--executors", "serial"},
		`unknown executor "filsh"`:                                 {"--parallelism", "fib", "--executors", "filsh"},
		`unknown workload "fob"`:                                   {"--parallelism", "fob"},
		"--parallelism knows no --workers":                         {"--parallelism", "fib", "--workers", "2"},
		"--parallelism knows no --json":                            {"--parallelism", "fib", "--json", "x"},
		"--parallelism knows no --builds":                          {"--parallelism", "fib", "--builds"},
		"tasks knows no --parallelism":                             {"--parallelism", "tasks"},
		"--parallelism knows no --html":                            {"--parallelism", "fib", "--html", "x"},
		"--svg: mkdir":                                             {"--parallelism", "fib", "--svg", filepath.Join(files[0], "x")},
		"--runs 0: there must be a run":                            {"--parallelism", "fib", "--runs", "0"},
		"fib: size \"x\" is not a number":                          {"--parallelism", "fib", "--size", "x"},
	} {
		if status, stdout, stderr := invoke(t, append([]string{"bench"}, args...)...); status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", args, status, stdout, stderr, want)
		}
	}
}

// The default sizes are those that do not take long with each fork seen, of what computes.
func TestParallelismLeavesOutWhatTakesLong(t *testing.T) {
	plan, err := newPlan(nil, options{runs: 1, workers: []int{1}})
	if err != nil {
		t.Fatal("newPlan(nil, …):", err)
	}
	some, err := measurable(plan.groups, false, false)
	if err != nil {
		t.Fatal("measurable(plan.groups, false, false):", err)
	}
	for _, g := range some {
		if g.heavy || g.workload.Sleeps {
			t.Errorf("%s %s is measured", g.workload.Name, g.size)
		}
	}
	if all, _ := measurable(plan.groups, false, true); len(all) <= len(some) {
		t.Errorf("%d of %d with sizes that are asked for", len(all), len(some))
	}
}
