package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

// docs/theory.md has what its commands print, and the pictures that they draw. FILCH_THEORY=write writes both, as make
// theory does. What stands after a comment "long" takes minutes. It is run if FILCH_LONG is set.
func TestTheoryIsReproduced(t *testing.T) {
	thorough.Only(t, "runs some thousand simulations")
	if race.Enabled {
		t.Skip("runs some thousand simulations, each on one goroutine")
	}
	t.Chdir("../..")
	const file = "docs/theory.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	write := os.Getenv("FILCH_THEORY") == "write"
	commands := 0
	text := regexp.MustCompile("(?s)(<!-- long -->\n)?```text\n(\\$.*?)```").ReplaceAllStringFunc(string(data), func(block string) string {
		head, _, _ := strings.Cut(block, "$")
		if strings.HasPrefix(head, "<!-- long -->") && os.Getenv("FILCH_LONG") == "" {
			return block
		}
		var out strings.Builder
		out.WriteString(head)
		for line := range strings.SplitSeq(block, "\n") {
			if command, ok := strings.CutPrefix(line, "$ filch sim "); ok {
				commands++
				out.WriteString(line + "\n" + reproduce(t, command, write))
			}
		}
		return out.String() + "```"
	})
	if commands < 20 {
		t.Errorf("there are only %d commands in %s", commands, file)
	}
	if write {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(file, []byte(text), 0o666):", err)
		}
		return
	}
	if text != string(data) {
		old, now := strings.Split(string(data), "\n"), strings.Split(text, "\n")
		for i := range min(len(old), len(now)) {
			if old[i] != now[i] {
				t.Fatalf("%s:%d has\n%s\nand the command prints\n%s\nmake theory writes it", file, i+1, old[i], now[i])
			}
		}
		t.Errorf("%s has %d lines; make theory writes %d", file, len(old), len(now))
	}
}

// reproduce runs a command and returns what it prints, without spaces at the ends of lines. Pictures are written, or
// compared with those that are there.
func reproduce(t *testing.T, command string, write bool) string {
	var args []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
		args = append(args, m[1]+m[2])
	}
	kept, drawn := "", t.TempDir()
	for i, arg := range args {
		if arg == "--svg" {
			kept = args[i+1]
			args[i+1] = drawn
		}
	}
	out, _ := simulate(t, 0, args...)
	if kept != "" {
		comparePictures(t, kept, drawn, write)
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out, "")
}

// comparePictures compares those of the pictures in a folder that are kept, or replaces them. What is not shown in
// docs/theory.md is not kept.
func comparePictures(t *testing.T, kept, drawn string, write bool) {
	text, err := os.ReadFile("docs/theory.md")
	if err != nil {
		t.Fatal(`os.ReadFile("docs/theory.md"):`, err)
	}
	files, err := filepath.Glob(filepath.Join(drawn, "*.svg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no picture was drawn: %v", kept, err)
	}
	shown := 0
	for _, file := range files {
		name := filepath.ToSlash(filepath.Join(kept, filepath.Base(file)))
		if !strings.Contains(string(text), "("+strings.TrimPrefix(name, "docs/")+")") {
			continue
		}
		shown++
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal("os.ReadFile(file):", err)
		}
		if write {
			if err := os.MkdirAll(kept, 0o777); err != nil {
				t.Fatal("os.MkdirAll(kept, 0o777):", err)
			}
			if err := os.WriteFile(name, now, 0o666); err != nil {
				t.Fatal("os.WriteFile(name, now, 0o666):", err)
			}
			continue
		}
		old, err := os.ReadFile(name)
		if err != nil {
			t.Error("os.ReadFile(name):", err)
		} else if runtime.GOARCH == "amd64" && !bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), now) { // others round points differently
			t.Errorf("%s is not what the command draws; make theory draws it", name)
		}
	}
	if shown == 0 {
		t.Errorf("docs/theory.md shows none of the pictures of %s", kept)
	}
}
