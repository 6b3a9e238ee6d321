package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	file := filepath.Join(t.TempDir(), "set.png")
	var out strings.Builder
	if err := run(&out, p, 150, file); err != nil {
		t.Fatal("run(&out, p, 150, file):", err)
	}
	if !strings.Contains(out.String(), "times as fast") {
		t.Error(out.String())
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal("os.Open(file):", err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal("png.Decode(f):", err)
	}
	if r, g, b, _ := img.At(120, 75).RGBA(); r|g|b != 0 { // the origin
		t.Error("0 is not in the set")
	}
	if r, g, b, _ := img.At(0, 0).RGBA(); r|g|b == 0 {
		t.Error("-2-1.25i is in the set")
	}
}
