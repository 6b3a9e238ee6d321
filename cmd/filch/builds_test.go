package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// fake is a command that reports a time of 3 ms without a profile, and of 2 ms with one.
const fake = `package main

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	took := "3000000"
	info, _ := debug.ReadBuildInfo()
	if slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" }) {
		took = "2000000"
	}
	if i := slices.Index(os.Args, "wrong"); i > 0 {
		os.Stderr.WriteString("filch: WRONG ANSWER\n")
		os.Exit(1)
	}
	text := strings.ReplaceAll(` + "`" + `{"rows": [
		{"workload": "fib", "size": "3", "executor": "serial", "workers": 1, "runs": 1, "median_ns": 1000000, "ok": true},
		{"workload": "fib", "size": "3", "executor": "filch", "workers": 1, "runs": 1, "median_ns": T, "ok": true},
		{"workload": "fib", "size": "3", "executor": "basic", "workers": 1, "note": "deadlocks"},
		{"workload": "uts", "size": "T1", "executor": "serial", "workers": 1, "runs": 1, "median_ns": 4000000, "ok": true}],
		"bars": [{"what": "speed", "got": 1, "goal": 2, "ns": T}]}` + "`" + `, "T", took)
	if err := os.WriteFile(os.Args[len(os.Args)-1], []byte(text), 0o644); err != nil {
		panic(err)
	}
}
`

// Both builds are measured, and the rows of a workload stand together, those of the build
// with the profile behind the others and compared with its own serial program.
func TestBothBuildsAreMeasured(t *testing.T) {
	thorough.Only(t, "compiles part of the standard library again")
	thorough.Tool(t, "go")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module fake\n\ngo 1.26\n", "builds.go": fake, profileName: ""} { // an empty profile says nothing, and is one
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal("os.WriteFile(…):", err)
		}
	}
	both, err := buildBoth(dir)
	if err != nil {
		t.Fatal("buildBoth(dir):", err)
	}
	r, err := both.measure(io.Discard, []string{"bench"}, 3)
	if err != nil {
		t.Fatal("both.measure(io.Discard, …, 3):", err)
	}
	var got []string
	for _, x := range r.Rows {
		got = append(got, x.Workload+" "+x.Executor+" "+duration(x.Median)+" "+ratio(x.Speedup))
		if x.Executor != "basic" && x.Executor != "basic+pgo" && x.Runs != 3 {
			t.Errorf("%d runs: %+v", x.Runs, x)
		}
	}
	want := []string{
		"fib serial 1.00 ms 1.00", "fib filch 3.00 ms 0.33", "fib basic 0.00 ns ",
		"fib serial+pgo 1.00 ms 1.00", "fib filch+pgo 2.00 ms 0.50", "fib basic+pgo 0.00 ns ",
		"uts serial 4.00 ms 1.00", "uts serial+pgo 4.00 ms 1.00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(r.Bars) != 2 || r.Bars[0].NS != 3e6 || r.Bars[1].NS != 2e6 || r.Bars[1].What != "speed, with a profile" {
		t.Errorf("both.measure(io.Discard, …, 3): %+v", r.Bars)
	}
	if _, err := both.measure(io.Discard, []string{"wrong"}, 1); err == nil || err.Error() != "WRONG ANSWER" {
		t.Error("both.measure(io.Discard, …, 1):", err)
	}
	both.remove()
	if _, err := os.Stat(both.folder); !os.IsNotExist(err) {
		t.Errorf("the builds are left behind: %v", err)
	}
}

// A goal that only some runs have is the median of those.
func TestGoalsOfSomeRuns(t *testing.T) {
	long := report{Bars: []bar{{What: "long", Got: 5, NS: 50}, {What: "short", Got: 3}}}
	short := report{Bars: []bar{{What: "short", Got: 1}}}
	for _, reports := range [][]report{{short, long, short}, {long, short, short}} {
		got := map[string]float64{}
		for _, b := range mergeBars(reports) {
			got[b.What] += b.Got
		}
		if len(got) != 2 || got["long"] != 5 || got["short"] != 1 {
			t.Errorf("%v", got)
		}
	}
}

// Where the source is not there any more, the error says so.
func TestBuildsNeedTheSource(t *testing.T) {
	if _, err := buildBoth(t.TempDir()); err == nil {
		t.Error("built from nothing")
	}
	dir := sourceFolder()
	if !filepath.IsAbs(dir) {
		t.Skip("built with -trimpath, and knows no folder")
	}
	if _, err := os.Stat(filepath.Join(dir, "builds.go")); err != nil {
		t.Error("os.Stat(…):", err) // here it is
	}
}

// A build is asked for what the flags ask for, in one run.
func TestABuildIsAskedForTheSame(t *testing.T) {
	o := options{executors: []string{"filch", "basic"}, workers: []int{1, 2}, runs: 7, sizes: []string{"fib=3"}, input: "folder", json: "file"}
	got := strings.Join(childArgs([]string{"fib", "goparse"}, o), " ")
	if want := "bench --runs 1 fib goparse --executors filch --executors basic --size fib=3 --workers 1 --workers 2 --input folder"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What the build says of itself is in the report.
func TestTheReportSaysHowItWasBuilt(t *testing.T) {
	var m machine
	m.builtWith([]debug.BuildSetting{{Key: "-pgo", Value: "/src/cmd/filch/default.pgo"}, {Key: "GOAMD64", Value: "v1"}, {Key: "vcs.revision", Value: "abc"}})
	if m.Profile != "default.pgo" || m.Level != "GOAMD64=v1" || m.Revision != "abc" {
		t.Errorf("%+v", m)
	}
}

// The Makefile makes the profile by the same run as the command does.
func TestMakeHasTheSameProfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Skip(err)
	}
	words := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\\\n", " ")), " ")
	for _, word := range strings.Split(forProfile, " --") {
		if !strings.Contains(words, word) {
			t.Errorf("make pgo has no %q", word)
		}
	}
}

// A CPU profile is written, and to a file that cannot be there is a mistake.
func TestACPUProfileIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	if status, _, stderr := invoke(t, "bench", "fib", "--size", "15", "--executors", "filch", "--runs", "1", "--cpuprofile", file); status != 0 {
		t.Fatal("invoke(…):", stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Error("os.Stat(file):", err)
	}
	for want, args := range map[string][]string{
		"--cpuprofile: ": {"fib", "--cpuprofile", filepath.Join(file, "x")},
		"tasks knows no --builds and --cpuprofile": {"tasks", "--builds"},
		"par knows no --builds and --cpuprofile":   {"par", "--cpuprofile", file},
	} {
		if status, _, stderr := invoke(t, append([]string{"bench"}, args...)...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}

// The runs of a merged row are those that its median is of, one from each report.
func TestMergedRowsKeepTheirRuns(t *testing.T) {
	once := func(took time.Duration) report {
		return report{Rows: []*row{{Workload: "fib", Executor: "serial", Workers: 1, Runs: 1, OK: true, Median: took, Times: []time.Duration{took}}}}
	}
	r := mergeRows([]report{once(5), once(1), once(3)})[0]
	if !slices.Equal(r.Times, []time.Duration{5, 1, 3}) || r.Runs != 3 || r.Median != 3 {
		t.Errorf("mergeRows(…): %+v", r)
	}
}
