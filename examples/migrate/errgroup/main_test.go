package main

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestRun(t *testing.T) {
	if err := run(fstest.MapFS{"a": {Data: []byte("a")}, "x/b": {Data: []byte("b")}, "x/y/z/c": {}}); err != nil {
		t.Error("run(…):", err)
	}
}

// broken has a file that cannot be read.
type broken struct{ fstest.MapFS }

func (b broken) Open(name string) (fs.File, error) {
	if name == "x/bad" {
		return nil, fs.ErrPermission
	}
	return b.MapFS.Open(name)
}

func (b broken) ReadFile(name string) ([]byte, error) {
	if name == "x/bad" {
		return nil, fs.ErrPermission
	}
	return b.MapFS.ReadFile(name)
}

func TestAnErrorLeavesNoDigestsInBothForms(t *testing.T) {
	folder := broken{fstest.MapFS{"a": {}, "x/bad": {}, "x/c": {}}}
	for _, f := range []func(context.Context, fs.FS) (digests, error){before, after} {
		if d, err := f(context.Background(), folder); !errors.Is(err, fs.ErrPermission) || d != nil {
			t.Errorf("f(context.Background(), folder): %v, %v", d, err)
		}
	}
}
