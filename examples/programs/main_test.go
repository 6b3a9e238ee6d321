package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// All forms of a program give the same answer, on any number of workers.
func TestAllFormsGiveTheSameAnswer(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		p := filch.New(filch.WithWorkers(workers))
		var out strings.Builder
		if err := run(&out, p, true); err != nil || strings.Count(out.String(), "\n") != len(programs) {
			t.Errorf("%d workers: %v\n%s", workers, err, &out)
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	}
}

// A failure reaches the caller, and what is under way ends.
func TestFailuresReachTheCaller(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	gone, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("gone")
	cancel(cause)
	for name, f := range map[string]func() error{
		"crawlSerial":     func() error { _, err := crawlSerial(gone, site{9}); return err },
		"crawlGoroutines": func() error { _, err := crawlGoroutines(gone, site{9}, 2); return err },
		"crawl":           func() error { _, err := crawl(gone, p, site{9}, 2); return err },
		"repeat":          func() error { return repeat(gone, p, time.Hour, 1, func(*filch.Worker) {}) },
		"repeatGoroutine": func() error { return repeatGoroutine(gone, time.Hour, 1, func() {}) },
	} {
		if err := f(); !errors.Is(err, cause) {
			t.Errorf("%s: %v, not %v", name, err, cause)
		}
	}
}

// A handler answers what is wrong with a request, and that its pool is closed.
func TestHandlersAnswerInAnyCase(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	if err := p.Close(); err != nil {
		t.Fatal("p.Close():", err)
	}
	for query, want := range map[string]int{"/?walks=x": http.StatusBadRequest, "/?walks=9": http.StatusServiceUnavailable} {
		out := httptest.NewRecorder()
		ruin{p}.ServeHTTP(out, httptest.NewRequest(http.MethodGet, query, nil))
		if out.Code != want {
			t.Errorf("%s: status %d, not %d", query, out.Code, want)
		}
	}
}

var blocks = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// The code in docs/programs.md stands in these files, and each program is shown.
func TestProgramsAreWhatIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/programs.md"):`, err)
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal("os.ReadFile(name):", err)
		}
	}
	shown := map[string]bool{}
	for _, m := range blocks.FindAllSubmatch(page, -1) {
		found := false
		for name, text := range files {
			if bytes.Contains(text, m[1]) {
				found, shown[name] = true, true
			}
		}
		if !found {
			t.Errorf("no file has\n%s", m[1])
		}
	}
	for _, prog := range programs {
		if !shown[prog.name+".go"] {
			t.Errorf("docs/programs.md shows nothing of %s.go", prog.name)
		}
	}
}

// What each form of each program takes: docs/programs.md has the figures.
func BenchmarkPrograms(b *testing.B) {
	for _, prog := range programs {
		b.Run(prog.name, func(b *testing.B) {
			f := prog.make(filch.Default(), false)
			b.Run("serial", func(b *testing.B) { measure(b, f.serial) })
			b.Run("goroutines", func(b *testing.B) { measure(b, f.goroutines) })
			b.Run("filch", func(b *testing.B) { measure(b, f.filch) })
		})
	}
}

func measure(b *testing.B, f form) {
	for b.Loop() {
		if _, err := f(); err != nil {
			b.Fatal("f():", err)
		}
	}
}
