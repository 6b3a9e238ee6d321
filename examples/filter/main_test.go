package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	dir := t.TempDir()
	var out strings.Builder
	if err := run(&out, p, dir); err == nil || !strings.Contains(err.Error(), "no .png file") {
		t.Error("run(&out, p, dir):", err)
	}
	if err := drawAll(dir, 5, 90); err != nil {
		t.Fatal("drawAll(dir, 5, 90):", err)
	}
	if err := run(&out, p, dir); err != nil {
		t.Fatal("run(&out, p, dir):", err)
	}
	if !strings.HasPrefix(out.String(), "5 pictures") {
		t.Error(out.String())
	}
	sharp, err := filepath.Glob(filepath.Join(dir, "sharp", "*.png"))
	if err != nil || len(sharp) != 5 {
		t.Errorf("filepath.Glob(…): %v, %v", sharp, err)
	}
	// What is no picture is told by name.
	bad := filepath.Join(dir, "zebra.png")
	if err := os.WriteFile(bad, []byte("no picture"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(bad, []byte("no picture"), 0o644):`, err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		t.Fatal(`filepath.Glob(filepath.Join(dir, "*.png")):`, err)
	}
	n := 0
	err = parallel(p, names, func(string, []byte) error { n++; return nil })
	if err == nil || !strings.Contains(err.Error(), "zebra.png") || n != 5 {
		t.Errorf("%v, after %d pictures", err, n)
	}
}
