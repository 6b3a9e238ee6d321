package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

// Run takes all steps.
func TestRunTakesAllSteps(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		var out strings.Builder
		err := run(t.Context(), &out, pool, library())
		for _, want := range []string{"31 lines of 3 files have ", "724 ways to place 10 queens, such as [", "parallelism "} {
			if err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("run(…): %v: %s is not in %s", err, want, &out)
			}
		}
	})
}

// All code of docs/tutorial.md is in the files of this folder, which are compiled and tested.
func TestThePageShowsThisCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/tutorial.md"):`, err)
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	var code [][]byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal("os.ReadFile(name):", err)
		}
		code = append(code, b)
	}
	steps := bytes.Split(page, []byte("\n## "))[1:]
	if len(steps) < 8 {
		t.Fatalf("the page has %d steps", len(steps))
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	for i, step := range steps[:8] {
		found := blocks.FindAllSubmatch(step, -1)
		if len(found) == 0 {
			t.Errorf("step %d has no code", i+1)
		}
		for _, block := range found {
			if !isIn(code, block[1]) {
				t.Errorf("step %d: no file of examples/tutorial has\n%s", i+1, block[1])
			}
		}
	}
}

// isIn reports whether a file has the block.
func isIn(files [][]byte, block []byte) bool {
	for _, file := range files {
		if bytes.Contains(file, block) {
			return true
		}
	}
	return false
}
