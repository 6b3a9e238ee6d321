package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// The pictures and the filled tables are what the command writes.
func TestFilesAreWhatIsWritten(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("a Worker is drawn as it is in 64 bits")
	}
	files, err := write(root)
	if err != nil {
		t.Fatal("write(root):", err)
	}
	if len(files) != len(pictures)+len(filled) {
		t.Errorf("there are %d files, not %d pictures and %d documents", len(files), len(pictures), len(filled))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error("os.ReadFile(filepath.Join(root, name)):", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what is drawn or filled in now: go run ./internal/pictures", name)
		}
	}
}

// Each picture is shown in a document, with words for those that do not see it.
func TestPicturesAreShown(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal("filepath.Glob(…):", err)
	}
	var all strings.Builder
	for _, doc := range docs {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal("os.ReadFile(doc):", err)
		}
		all.Write(b)
	}
	for _, p := range pictures {
		shown := regexp.MustCompile(`!\[([^\]]*)\]\(pictures/` + p.name + `\.svg\)`).FindStringSubmatch(all.String())
		if shown == nil {
			t.Errorf("no document in docs shows %s", p.name)
		} else if len(shown[1]) < 40 {
			t.Errorf("%s is shown with %q for those that do not see it, which says too little", p.name, shown[1])
		}
	}
}

// A picture is XML with a title and a description, refers to nothing outside, and has all of its paints
// in light and dark.
func TestPicturesStandAlone(t *testing.T) {
	k := keptIn(root)
	for _, p := range pictures {
		c := p.canvas(k)
		if len(c.title) < 10 || len(c.about) < 40 {
			t.Errorf("%s: title %q, description %q", p.name, c.title, c.about)
		}
		b := c.svg()
		for _, bad := range []string{"http", "url(", "href", "<script", "@import", "NaN", "Inf"} {
			own := strings.NewReplacer(`xmlns="http://www.w3.org/2000/svg"`, "", "url(#", "") // what is in the file itself
			if strings.Contains(own.Replace(string(b)), bad) {
				t.Errorf("%s has %q", p.name, bad)
			}
		}
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("d.Token(): %s: %v", p.name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					for class := range strings.FieldsSeq(a.Value) {
						if n := strings.Count(css(), "."+class+"{"); n != 2 && class != "bold" && !strings.Contains(c.moves, "."+class+"{") {
							t.Errorf("%s: the paint %q has %d colours, not one in light and one in dark", p.name, class, n)
						}
					}
				}
			}
		}
	}
}

// No text is cut or lies on another, also in a font that is a little wider.
func TestTextsHaveRoom(t *testing.T) {
	k := keptIn(root)
	for _, p := range pictures {
		c := p.canvas(k)
		for i, a := range c.texts {
			if slack := (a.right - a.left) * 0.03; a.left < 8 || a.right+slack > wide-4 || a.top < 6 || a.bottom > c.height-4 {
				t.Errorf("%s: %q from %.0f to %.0f is cut", p.name, a.text, a.left, a.right)
			}
			for _, b := range c.texts[:i] {
				if a.left < b.right+2 && b.left < a.right+2 && a.top < b.bottom && b.top < a.bottom {
					t.Errorf("%s: %q lies on %q", p.name, a.text, b.text)
				}
			}
		}
	}
}

// A text in a box is not wider than it.
func TestTextsFitTheirBoxes(t *testing.T) {
	k := keptIn(root)
	for _, p := range pictures {
		c := p.canvas(k)
		for _, b := range c.boxes {
			for i, s := range b.lines {
				w := width(s, small)
				if i == 0 && len(b.lines) > 1 {
					w *= 1.08
				}
				if w > b.wide-8 || float64(len(b.lines))*small*1.3 > b.high {
					t.Errorf("%s: %q does not fit its box", p.name, s)
				}
			}
		}
	}
}

// The paints of text can be read on what is behind them: the ratio that WCAG asks for small text.
func TestTextsCanBeRead(t *testing.T) {
	byClass := map[string]paint{}
	for _, p := range paints {
		byClass[p.class] = p
	}
	for _, on := range []string{"paper", "box", "ourbox", "otherbox"} {
		for _, text := range []string{"ink", "faint", "ours", "others"} {
			if on != "paper" && on != "box" && text != "ink" {
				continue
			}
			a, b := byClass[text], byClass[on]
			if r := contrast(a.light, b.light); r < 4.5 {
				t.Errorf("%s on %s in light: %.1f", text, on, r)
			}
			if r := contrast(a.dark, b.dark); r < 4.5 {
				t.Errorf("%s on %s in dark: %.1f", text, on, r)
			}
		}
	}
}

// Figures that are missing are named, and nothing is drawn without them.
func TestMissingFiguresAreNamed(t *testing.T) {
	_, err := write(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "docs") {
		t.Errorf("without docs/bench: %v", err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs", "bench"), 0o777); err != nil {
		t.Fatal("os.MkdirAll(…, 0o777):", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", "bench", "tasks.json"), []byte(`{"rows": []}`), 0o666); err != nil {
		t.Fatal("os.WriteFile(…):", err)
	}
	if _, err := write(dir); err == nil || !strings.Contains(err.Error(), "tasks.json has no row sweep 100 cycles basic 2") {
		t.Errorf("without rows: %v", err)
	}
}

// Only blocks are filled in, and those by a table that there is.
func TestOnlyBlocksAreFilledIn(t *testing.T) {
	k := keptIn(root)
	if got, err := fill("before\n<!-- filled: rest -->\nold\n<!-- end -->\nafter", k); err != nil ||
		!strings.HasPrefix(got, "before\n<!-- filled: rest -->\n| ") || !strings.HasSuffix(got, "\n<!-- end -->\nafter") || strings.Contains(got, "old") {
		t.Errorf("fill(…, k): %q, %v", got, err)
	}
	if _, err := fill("<!-- filled: nothing -->\n<!-- end -->", k); err == nil {
		t.Error("a block without a table is filled in")
	}
}

// What go test prints of benchmarks is read, with any number of processors.
func TestBenchmarksAreRead(t *testing.T) {
	r, times := benchmarksIn("go: go1.26\ndate: 2026-11-22\ncpu: Some CPU\nBenchmarkA/b-8  \t 3\t 200.0 ns/op\nBenchmarkA/b-8  \t 3\t 300 ns/op\t 1 B/op\nPASS\n")
	if want := "Measured: Some CPU, 8 CPUs, go1.26, 2026-11-22."; r.source() != want || len(times) != 1 || median(times["A/b"]) != 250 {
		t.Errorf("%s, %v", r.source(), times)
	}
	if r, times := benchmarksIn("BenchmarkA 1 5 ns/op\n"); r.Machine.CPUs != 1 || median(times["A"]) != 5 {
		t.Errorf("on one processor: %d, %v", r.Machine.CPUs, times)
	}
}

// What is filled in again stays as it is.
func TestTablesAreFilledInOnce(t *testing.T) {
	k := keptIn(root)
	for name, table := range tables {
		once := table(k, "| I want to | use |\n|---|---|\n| sort | `Sort`, `Merge` |\n")
		if twice := table(k, once); twice != once {
			t.Errorf("%s:\n%s\nthen\n%s", name, once, twice)
		}
	}
}

func TestNumbersHaveFewDigits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{nanos(1.21), "1.2 ns"}, {nanos(799.2), "799 ns"}, {nanos(2172), "2.2 us"}, {nanos(12e6), "12.0 ms"}, {nanos(3e9), "3.0 s"},
		{digits(0.0029), "0.003"}, {digits(0.28), "0.28"}, {num(-0.001), "-0"}, {num(10), "10"}, {sizeOf(48 << 10), "48 KB"}, {sizeOf(2 << 20), "2 MB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}

// A tree all of whose tasks run on one worker has all children at home.
func TestChildrenOfTheSameWorkerAreAtHome(t *testing.T) {
	ms := make([]member, 7)
	if s := share(ms); s != 1 {
		t.Errorf("one worker: %v", s)
	}
	ms[2].Worker = 1 // and so its two children are not at home
	if s := share(ms); s != 0.5 {
		t.Errorf("one task elsewhere: %v, not 0.5", s)
	}
	ms[6].Worker = 1 // at home with its parent
	if s := share(ms); s != 4.0/6 {
		t.Errorf("one of its children with it: %v, not 4/6", s)
	}
}

// contrast returns the ratio of the luminances of two colours, as WCAG 2 has it.
func contrast(a, b string) float64 {
	luminance := func(s string) float64 {
		var c [3]int
		if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
			panic(err)
		}
		var l [3]float64
		for i, v := range c {
			x := float64(v) / 255
			if l[i] = x / 12.92; x > 0.04045 {
				l[i] = math.Pow((x+0.055)/1.055, 2.4)
			}
		}
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// A run of a family has each task, after its parent, on one of two workers.
func TestFamiliesAreWhole(t *testing.T) {
	for name, run := range map[string]func() []member{"basic": basicFamily, "filch": filchFamily} {
		for i, m := range run() {
			if m.To <= m.From || m.Worker < 0 || m.Worker > 1 && name == "basic" {
				t.Errorf("%s: task %d: %+v", name, i, m)
			}
		}
		ms := run()
		for i := range ms {
			if i > 0 && ms[i].From < ms[(i-1)/2].To {
				t.Errorf("%s: task %d begins before its parent has ended", name, i)
			}
		}
	}
}

// The spans of a trace nest as steals do, and what is open when a worker leaves ends there.
func TestSpansNest(t *testing.T) {
	events := eventsOf([]byte(`# not an event
1.000us  worker 0   is called
2.000us  worker 1   steals fork 0.1 from worker 0
3.000us  worker 0   steals fork 1.1 from worker 1
4.000us  worker 0   finishes fork 1.1 of worker 1
5.000us  worker 1   finishes fork 0.1 of worker 0
6.000us  worker 0   leaves
`))
	want := []span{{0, true, 1000, 6000}, {1, false, 2000, 5000}, {0, false, 3000, 4000}}
	if got := spansOf(events); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// Lines with code count, once each.
func TestLinesOfCode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := "// Package a has a comment.\npackage a\n\n/* and\nanother */\nfunc f() { g(); h() } // beside\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal("os.WriteFile(file, []byte(text), 0o666):", err)
	}
	if n, err := codeIn(file); n != 2 || err != nil {
		t.Errorf("%d lines, %v, not 2", n, err)
	}
	if _, err := codeIn(file + "x"); err == nil {
		t.Error("a file that is not there has lines")
	}
}

// Drawings have the colours of the charts: of the ground and text, of filch, and of goroutines and the pool with a lock.
func TestColoursAreThoseOfTheCharts(t *testing.T) {
	theme, err := os.ReadFile("../../cmd/filch/theme.go")
	if err != nil {
		t.Skip("cmd/filch is not here: this is the module alone")
	}
	for class, name := range map[string]string{"paper": "paper", "ink": "ink", "faint": "faint", "grid": "grid", "ours": "m0", "third": "o0", "others": "o1"} {
		i := slices.IndexFunc(paints, func(p paint) bool { return p.class == class })
		want := fmt.Sprintf("{%q, %q, %q}", name, strings.ToUpper(paints[i].light), strings.ToUpper(paints[i].dark))
		if !strings.Contains(string(theme), want) {
			t.Errorf("%s is drawn as %s here, and otherwise in the charts", class, want)
		}
	}
}
