package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch"
)

// wordSteps are the word counts of the page.
var wordSteps = []struct {
	name  string
	count func(s filch.Scope, texts []string) map[string]int
}{
	{"serial", func(_ filch.Scope, texts []string) map[string]int { return wordsSerial(texts) }},
	{"halves", wordsHalves},
	{"tree", func(s filch.Scope, texts []string) map[string]int { return wordsTree.Call(s, texts) }},
	{"par", wordsPar},
}

// sample returns n lines of a few words each.
func sample(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("the %d cat sat on the %d mat", i%7, i%100))
	}
	return texts
}

// pools calls test with pools of several sizes, and closes them.
func pools(t *testing.T, test func(t *testing.T, pool *filch.Pool)) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			pool := filch.New(filch.WithWorkers(workers), filch.WithChecks())
			test(t, pool)
			if err := pool.Close(); err != nil {
				t.Error("pool.Close():", err)
			}
		})
	}
}

// Each step counts what the serial program counts, also on a worker.
func TestWordsAreThoseOfTheSerialProgram(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		for _, n := range []int{0, 1, 2, 3, 500} {
			texts := sample(n)
			want := wordsSerial(texts)
			for _, step := range wordSteps {
				if got := step.count(pool, texts); !maps.Equal(got, want) {
					t.Errorf("%s of %d lines: %v, not %v", step.name, n, got, want)
				}
				pool.Do(func(w *filch.Worker) {
					if got := step.count(w, texts); !maps.Equal(got, want) {
						t.Errorf("%s of %d lines on a worker: %v, not %v", step.name, n, got, want)
					}
				})
			}
		}
	})
}

// library has three files.
func library() fstest.MapFS {
	return fstest.MapFS{
		"a.md": {Data: []byte(strings.Join(sample(10), "\n"))},
		"b.md": {Data: []byte(strings.Join(sample(20), "\n"))},
		"c.md": {},
	}
}

// Tasks count the words of all files, and a file that is missing is an error.
func TestFilesAreCountedByTasks(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		want := wordsSerial(append(sample(10), sample(20)...))
		got, err := wordsFiles(t.Context(), pool, library(), []string{"a.md", "b.md", "c.md"}).Wait(t.Context())
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("wordsFiles(…).Wait(t.Context()): %v, %v, not %v", got, err, want)
		}
		_, err = wordsFiles(t.Context(), pool, library(), []string{"a.md", "d.md", "b.md"}).Wait(t.Context())
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error("wordsFiles(…).Wait(t.Context()):", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = wordsFiles(ended, pool, library(), []string{"a.md"}).Wait(t.Context())
		if !errors.Is(err, context.Canceled) {
			t.Error("wordsFiles(ended, …).Wait(t.Context()):", err)
		}
	})
}
