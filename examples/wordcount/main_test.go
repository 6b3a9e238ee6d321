package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	files := fstest.MapFS{}
	for i := range 50 {
		files[fmt.Sprintf("%d/%d.txt", i%7, i)] = &fstest.MapFile{Data: []byte(strings.Repeat("one two, two; three three three! ", i+1))}
	}
	var out strings.Builder
	if err := run(&out, p, files); err != nil {
		t.Fatal("run(&out, p, files):", err)
	}
	for _, want := range []string{"    3825 three\n    2550 two\n    1275 one\n", "7650 words in 50 files"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A file that cannot be read is told of, by both.
func TestAFileThatCannotBeReadIsTold(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	files := fstest.MapFS{"a.txt": {Data: []byte("one")}, "b.txt": {Data: []byte("two")}, "c.txt": {Data: []byte("three")}}
	bad := unreadable{files, "b.txt"}
	if _, _, err := serial(bad); !errors.Is(err, fs.ErrPermission) {
		t.Error("serial(bad):", err)
	}
	if _, err := parallel(p, bad); !errors.Is(err, fs.ErrPermission) {
		t.Error("parallel(p, bad):", err)
	}
	if err := run(io.Discard, p, os.DirFS(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Error("run(io.Discard, p, …):", err)
	}
}

// unreadable has a file that cannot be read.
type unreadable struct {
	fstest.MapFS
	name string
}

func (u unreadable) ReadFile(name string) ([]byte, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.ReadFile(name)
}
