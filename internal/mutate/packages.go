package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A listed package is one of the workspace, as go list says.
type listed struct {
	Name, Dir    string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string

	folder string // below the root, with slashes
}

// mutated returns the packages whose source is changed: all of the workspace but commands, programs that are measured,
// examples, and what is there for tests alone.
func mutated(dir string) (all []listed, err error) {
	cmd := exec.Command("go", "list", "-json=Name,Dir,GoFiles,TestGoFiles,XTestGoFiles", "work")
	cmd.Dir = dir
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list work: %w: %s", err, complaint.String())
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("what go list work prints: %w", err)
		}
		folder, err := filepath.Rel(dir, p.Dir)
		if err != nil {
			return nil, err
		}
		p.folder = filepath.ToSlash(folder)
		if p.isMutated() {
			all = append(all, p)
		}
	}
}

var programs = regexp.MustCompile("^(examples/|cmd/|internal/workload$|internal/sssp$)")

func (p *listed) isMutated() bool {
	tested := len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 || len(above[p.folder]) > 0
	return tested && p.Name != "main" && !strings.HasSuffix(p.Name, "test") && !programs.MatchString(p.folder)
}

// rooms are the folders of the root's tests, by what they hold. Those of upkeep judge the source as it is written, and of benchmarks nothing.
var rooms = []string{"test/forks", "test/tasks", "test/order", "test/limits", "test/life", "test/sight", "test/mistakes", "test/storms"}

// atRoot returns the packages whose tests hold the root to what it promises.
func atRoot(first ...string) []string { return slices.Concat(first, []string{"."}, rooms) }

// above names the packages whose tests judge what survives those of a package itself. They stand above it, and hold it
// to what it is for.
var above = map[string][]string{
	".":                      append(slices.Clone(rooms), "par", "test/loops"),
	"cluster":                {"cluster/clustertest"},
	"cluster/internal/ask":   {"cluster", "cluster/clustertest"},
	"cluster/internal/edge":  {"cluster", "cluster/clustertest"},
	"cluster/internal/place": {"cluster", "cluster/clustertest"},
	"cluster/internal/pull":  {"cluster", "cluster/clustertest"},
	"deque":                  atRoot(),
	"internal/affinity":      atRoot(),
	"internal/clock":         atRoot(),
	"internal/engine":        append(atRoot("internal/task"), "par", "test/loops"),
	"internal/guard":         {"trace/live"},
	"internal/line":          atRoot(),
	"internal/place":         atRoot(),
	"internal/policy":        atRoot(),
	"steal":                  atRoot("internal/engine"),
	"internal/queue":         atRoot("ordered"),
	"internal/tag":           atRoot(),
	"internal/task":          atRoot(),
	"internal/views":         {"strand", "test/strands"},
	"flow":                   {"test/flows"},
	"par":                    {"test/loops"},
	"strand":                 {"test/strands"},
}

// withRace are packages whose tests judge once more, with the race detector, what survives all
// others: they have code that only it sees.
var withRace = []string{".", "deque", "flow", "internal/engine", "internal/place", "internal/task", "ordered"}

// judges are the tests that m must survive.
func (r *runner) judges(m mutant) []tests {
	own := filepath.ToSlash(filepath.Dir(m.file))
	all := []tests{{pkg: own}}
	if !r.own {
		for _, pkg := range above[own] {
			all = append(all, tests{pkg: pkg})
		}
	}
	if slices.Contains(withRace, own) {
		all = append(all, tests{own, true})
		for _, pkg := range above[own] {
			if !r.own && strings.HasPrefix(pkg, "test/") {
				all = append(all, tests{pkg, true})
			}
		}
	}
	return all
}
