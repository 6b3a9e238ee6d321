package par

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch"
)

type fsDirEntry = fs.DirEntry

func someFiles() fstest.MapFS {
	files := fstest.MapFS{}
	for i := range 20 {
		for j := range 30 {
			files[fmt.Sprintf("a%d/b%d/c%d.txt", i%5, i, j)] = &fstest.MapFile{}
		}
	}
	return files
}

func TestWalkDir(t *testing.T) {
	files := someFiles()
	var want []string
	fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error { want = append(want, path); return err })
	slices.Sort(want)
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var mu sync.Mutex
		var got []string
		seen := map[string]bool{}
		err := WalkDir(p, files, ".", func(path string, e fs.DirEntry, err error) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, path)
			seen[path] = true
			return err
		})
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %d paths, want %d", err, len(got), len(want))
		}
		boom := errors.New("boom")
		if err := WalkDir(p, files, ".", func(path string, _ fs.DirEntry, _ error) error {
			if path == "a3/b8/c7.txt" {
				return boom
			}
			return nil
		}); err != boom {
			t.Error(err)
		}
		n := 0
		if err := WalkDir(p, files, ".", func(path string, e fs.DirEntry, _ error) error {
			mu.Lock()
			defer mu.Unlock()
			if path == "a3" {
				return fs.SkipDir
			}
			if len(path) > 3 && path[:3] == "a3/" {
				t.Errorf("%s was not skipped", path)
			}
			n++
			return nil
		}); err != nil || n != len(want)-1-4-4*30 {
			t.Errorf("%v, %d paths", err, n)
		}
		if err := WalkDir(p, files, ".", func(string, fs.DirEntry, error) error { return fs.SkipAll }); err != nil {
			t.Error(err)
		}
		if err := WalkDir(p, files, "none", func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		p.Close()
	}
}
