package main

import (
	"fmt"
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
		t.Fatal(err)
	}
	for _, want := range []string{"    3825 three\n    2550 two\n    1275 one\n", "7650 words in 50 files"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
