package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Each change of what is exported shows in api/*.txt.
func TestListsAreUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	for name, dir := range packages {
		got, err := list(filepath.Join(root, dir))
		if err != nil {
			t.Fatalf("list(%s): %v", dir, err)
		}
		file := filepath.Join(root, "api", name+".txt")
		want, err := os.ReadFile(file)
		if err != nil {
			t.Error("os.ReadFile:", err)
		} else if got != string(want) {
			t.Errorf("api/%s.txt is not what package %s exports: run make api, and look at the difference", name, dir)
		}
	}
}

// A list has what users can name, and nothing else.
func TestAListHasWhatUsersCanName(t *testing.T) {
	dir := t.TempDir()
	source := `package p

// T is a type.
type T[K comparable] struct {
	A, B int // two
	c    int
	*u
}

type u struct{}

func (*u) L() {}
func (*u) l() {}

type I interface {
	M(a int) (b int)
	m()
	~int | ~string
}

type t struct{ A int }

func (t) M()           {}
func (x *T[K]) M()     {}
func (x *T[K]) m()     {}
func F(a, b int) error { return nil }
func f()               {}

const (
	C T[int] = iota
	D
	d
)

var V = 3
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal("WriteFile:", err)
	}
	const want = `const C T[int]
const D
func (*T[K]) M()
func (*u) L()
func F(a, b int) error
type I interface { }
type I interface, M(a int) (b int)
type I interface, ~int | ~string
type T struct, A int
type T struct, B int
type T[K comparable] struct { }
var V
`
	if got, err := list(dir); err != nil || got != want {
		t.Errorf("list: %v\n%s\nwant\n%s", err, got, want)
	}
}
