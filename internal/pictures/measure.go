package main

import (
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// What is measured for pictures alone is kept in these files of docs.
const (
	runsFile   = "pictures/runs.json"
	stealsFile = "pictures/steals.txt"
)

// A caches has what a load takes that the next load waits for, by how much memory the loads go through,
// and how long a word takes from one processor to another and back.
type caches struct {
	Levels   []cacheLevel `json:"levels"`
	Loads    []load       `json:"loads"`
	HandOver float64      `json:"hand_over_ns"`
	Kind     string       `json:"kind"` // of these figures
}

type cacheLevel struct {
	Level int   `json:"level"`
	Bytes int64 `json:"bytes"`
	CPUs  int   `json:"cpus"` // that share it
}

type load struct {
	Bytes int64   `json:"bytes"`
	NS    float64 `json:"ns"`
}

// A family is a tree of tasks that was run many times: each task works, and then submits two more.
type family struct {
	Executor string   `json:"executor"`
	Workers  int      `json:"workers"`
	Runs     int      `json:"runs"`
	Share    float64  `json:"share"`         // of the children that their parent's worker has run: the median of the runs
	Low      float64  `json:"share_quarter"` // a quarter of the runs have no more
	High     float64  `json:"share_three_quarters"`
	Members  []member `json:"tasks"` // of the quickest run
}

// A member is one of them; its parent is (number - 1) / 2.
type member struct {
	Worker int   `json:"worker"`
	From   int64 `json:"from_ns"`
	To     int64 `json:"to_ns"`
}

// share returns the part of the children that the worker of their parent has run.
func share(ms []member) float64 {
	home := 0
	for i := 1; i < len(ms); i++ {
		if ms[i].Worker == ms[(i-1)/2].Worker {
			home++
		}
	}
	return float64(home) / float64(len(ms)-1)
}

// ran is what the file has beside the machine.
type ran struct {
	Machine  machine  `json:"machine"`
	Caches   caches   `json:"caches"`
	Families []family `json:"families"`
	Sources  []source `json:"sources"`
}

// A source is how much code a pool is: the package, and what it imports of the same module, without
// tests, empty lines and lines of comment.
type source struct {
	Executor string `json:"executor"`
	Lines    int    `json:"lines"`
}

type machine struct {
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	Time string `json:"time"`
}

// measure runs all of it, which takes some seconds, and keeps it below dir.
func measure(dir string) error {
	m := machine{CPU: processor(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Time: time.Now().UTC().Format(time.RFC3339)}
	r := ran{Machine: m, Caches: measureCaches()}
	ofBasic, err := undisturbed("basic", basicFamily)
	if err != nil {
		return err
	}
	ofFilch, err := undisturbed("filch", filchFamily)
	if err != nil {
		return err
	}
	r.Families = []family{ofBasic, ofFilch}
	if r.Sources, err = measureSources(dir); err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := os.WriteFile(filepath.Join(dir, "docs", runsFile), b, 0o666); err != nil {
		return err
	}
	text, err := measureSteals()
	if err != nil {
		return err
	}
	head := fmt.Sprintf("# %s, %d CPUs, %s, %s\n", m.CPU, m.CPUs, m.Go, m.Time)
	return os.WriteFile(filepath.Join(dir, "docs", stealsFile), append([]byte(head), text...), 0o666)
}

// processor returns the name of the processor, where Linux says it.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

// measureSources counts the lines of the pools that filch bench tasks compares.
func measureSources(dir string) (all []source, err error) {
	for _, p := range []struct{ executor, path, module string }{
		{"filch", "github.com/filch-go/filch", "github.com/filch-go/filch"},
		{"basic", "github.com/filch-go/filch/basic", "github.com/filch-go/filch/basic"},
		{"errgroup", "golang.org/x/sync/errgroup", "golang.org/x/sync"},
		{"ants", "github.com/panjf2000/ants/v2", "github.com/panjf2000/ants"},
		{"pond", "github.com/alitto/pond/v2", "github.com/alitto/pond"},
		{"conc", "github.com/sourcegraph/conc/pool", "github.com/sourcegraph/conc"},
		{"workerpool", "github.com/gammazero/workerpool", "github.com/gammazero"}, // its deque is a module beside it
	} {
		list := exec.Command("go", "list", "-deps", "-f", `{{$dir := .Dir}}{{$path := .ImportPath}}{{range .GoFiles}}{{$path}} {{$dir}}/{{.}}{{"\n"}}{{end}}`, p.path)
		list.Dir = filepath.Join(dir, "cmd", "filch")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", p.path, err)
		}
		s := source{Executor: p.executor}
		for line := range strings.Lines(string(out)) {
			path, file, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || path != p.module && !strings.HasPrefix(path, p.module+"/") {
				continue
			}
			n, err := codeIn(file)
			if err != nil {
				return nil, err
			}
			s.Lines += n
		}
		all = append(all, s)
	}
	return all, nil
}

// codeIn counts the lines of a file on which a token of Go begins.
func codeIn(file string) (n int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	files := token.NewFileSet()
	f := files.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, 0)
	for last := 0; ; {
		at, what, literal := s.Scan()
		if what == token.EOF {
			return n, nil
		}
		if what == token.SEMICOLON && literal == "\n" {
			continue
		}
		if line := f.Line(at); line > last {
			n, last = n+1, line
		}
	}
}
