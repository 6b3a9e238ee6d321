package par

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
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

func TestWalkDirComesToWhatThatOfFsComesTo(t *testing.T) {
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
			t.Error(`WalkDir(p, files, ".", …):`, err)
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
			t.Error(`WalkDir(p, files, ".", …):`, err)
		}
		if err := WalkDir(p, files, "none", func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrNotExist) {
			t.Error(`WalkDir(p, files, "none", …):`, err)
		}
		p.Close()
	}
}

// readsOf are files that tell which folders were read, and one of them cannot be.
type readsOf struct {
	fstest.MapFS
	bad  string
	read *[]string
}

var errUnread = errors.New("cannot be read")

func (r readsOf) ReadDir(name string) ([]fs.DirEntry, error) {
	*r.read = append(*r.read, name)
	if name == r.bad {
		return nil, errUnread
	}
	return r.MapFS.ReadDir(name)
}

// What f says decides what is walked and read: with one worker, the files of a folder in their
// order, and then its folders.
func TestWhatAWalkLeavesOut(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	files := fstest.MapFS{"1": {}, "2": {}, "3": {}, "a/1": {}, "a/2": {}, "b/1": {}}
	boom := errors.New("boom")
	for _, c := range []struct {
		name        string
		bad         string
		at          string
		say, want   error
		calls, read string
	}{
		{"all", "", "", nil, nil, ". 1 2 3 a a/1 a/2 b b/1", ". a b"},
		{"an error of the root", "", ".", boom, boom, ".", ""},
		{"no root", "", ".", fs.SkipDir, nil, ".", ""},
		{"an error of a file", "", "2", boom, boom, ". 1 2", "."},
		{"no more files", "", "2", fs.SkipDir, nil, ". 1 2 a a/1 a/2 b b/1", ". a b"},
		{"no more at all", "", "2", fs.SkipAll, nil, ". 1 2", "."},
		{"not this folder", "", "a", fs.SkipDir, nil, ". 1 2 3 a b b/1", ". b"},
		{"an unread folder", "a", "", nil, nil, ". 1 2 3 a a b b/1", ". a b"},
		{"an unread folder that is told", "a", "a again", errUnread, errUnread, "", ""},
		{"an unread folder that is skipped", "a", "a again", fs.SkipDir, nil, ". 1 2 3 a a b b/1", ". a b"},
	} {
		var calls, read []string
		err := WalkDir(p, readsOf{files, c.bad, &read}, ".", func(path string, _ fs.DirEntry, err error) error {
			if calls = append(calls, path); err != nil && (path != c.bad || err != errUnread) {
				t.Errorf("%s: %v at %s", c.name, err, path)
			}
			if err != nil {
				path += " again"
			}
			if path == c.at {
				return c.say
			}
			return nil
		})
		slices.Sort(calls) // which of two folders is first is not said
		slices.Sort(read)
		if err != c.want || c.calls != "" && (strings.Join(calls, " ") != c.calls || strings.Join(read, " ") != c.read) {
			t.Errorf("%s: %v; called for %v, and read %v", c.name, err, calls, read)
		}
	}
}

// The first error is kept, but for fs.SkipAll, which is none; and then no files are begun.
func TestFirstErrorOfAWalk(t *testing.T) {
	boom := errors.New("boom")
	w := &walk{f: func(string, fs.DirEntry, error) error { t.Error("a file was begun"); return nil }}
	for _, c := range []struct {
		err, kept error
		ends      bool
	}{{nil, nil, false}, {fs.SkipDir, nil, false}, {fs.SkipAll, fs.SkipAll, true}, {boom, boom, true}, {errUnread, boom, true}, {fs.SkipAll, boom, true}} {
		if ends := w.fail(c.err); ends != c.ends || w.err != c.kept {
			t.Errorf("after %v: %v is kept; it ends: %t", c.err, w.err, ends)
		}
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	entries, err := someFiles().ReadDir("a0/b0")
	if err != nil {
		t.Fatal(`someFiles().ReadDir("a0/b0"):`, err)
	}
	p.Do(func(worker *filch.Worker) { w.files(worker, "a0/b0", entries) })
}
