package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"gonum.org/v1/plot/vg"
)

// keptReports are the reports of filch bench in docs/bench, by name.
func keptReports(t *testing.T) map[string]report {
	t.Helper()
	files, err := filepath.Glob("../../docs/bench/*.json")
	if err != nil {
		t.Fatal(`filepath.Glob("../../docs/bench/*.json"):`, err)
	}
	if len(files) == 0 {
		t.Skip("docs/bench is not here: this is the module alone")
	}
	all := map[string]report{}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "sim-") {
			continue // of filch sim
		}
		r, err := readReport(file)
		if err != nil {
			t.Fatal("readReport(file):", err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = r
	}
	return all
}

// The charts in docs/pictures are what is drawn from the figures that are kept: make pictures.
func TestPicturesAreDrawnFromTheFigures(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digit of some coordinates otherwise")
	}
	dirs, err := filepath.Glob("../../docs/pictures/*/speed-up.svg")
	if kept := keptReports(t); err != nil || len(dirs) == 0 {
		t.Fatalf("no charts of %d reports, %v", len(kept), err)
	}
	for _, name := range []string{"summary", "tasks"} {
		dir := t.TempDir()
		if status, _, stderr := invoke(t, "bench", "--from", "../../docs/bench/"+name+".json", "--svg", dir); status != 0 {
			t.Fatal(`invoke(t, "bench", "--from", …, "--svg", dir):`, stderr)
		}
		want, is := contents(t, dir), contents(t, "../../docs/pictures/"+name)
		for file := range want {
			if is[file] != want[file] {
				t.Errorf("docs/pictures/%s/%s is not what is drawn now: make pictures", name, file)
			}
		}
		if len(is) != len(want) {
			t.Errorf("docs/pictures/%s: %d files, not %d", name, len(is), len(want))
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(`filepath.Glob(filepath.Join(dir, "*")):`, err)
	}
	all := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal("os.ReadFile(file):", err)
		}
		all[filepath.Base(file)] = string(b)
	}
	return all
}

// A piece is a text of a drawing, and where it begins.
type piece struct {
	text       string
	x, y, size float64
	bold       bool
}

var (
	fontSize = regexp.MustCompile(`font-size:([\d.]+)px`)
	ringed   = regexp.MustCompile(`stroke-loss"`)
)

// textsOf parses a drawing and returns its texts.
func textsOf(t *testing.T, svg []byte) (all []piece) {
	t.Helper()
	in := false
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if in = e.Name.Local == "text"; !in {
				continue
			}
			p := piece{}
			for _, a := range e.Attr {
				v, _ := strconv.ParseFloat(a.Value, 64)
				switch a.Name.Local {
				case "x":
					p.x = v
				case "y":
					p.y = -v // all is drawn upside down, and turned
				case "style":
					p.size, _ = strconv.ParseFloat(fontSize.FindStringSubmatch(a.Value)[1], 64)
					p.bold = strings.Contains(a.Value, "bold")
				}
			}
			all = append(all, p)
		case xml.CharData:
			if in {
				all[len(all)-1].text += string(e)
			}
		case xml.EndElement:
			in = false
		}
	}
}

func has(texts []piece, want string) bool {
	return slices.ContainsFunc(texts, func(p piece) bool { return p.text == want || strings.HasPrefix(p.text, want+", on ") })
}

// Each program, executor and loss of a report is in its charts and on its page, in both widths.
func TestChartsShowAllOfAReport(t *testing.T) {
	if testing.Short() {
		t.Skip("draws much")
	}
	for name, r := range keptReports(t) {
		t.Run(name, func(t *testing.T) {
			charts := chartsOf(r)
			for _, width := range []vg.Length{wide, narrow} {
				var texts []piece
				for _, c := range charts {
					svg := c.svg(width, standing)
					texts = append(texts, textsOf(t, svg)...)
					lost := 0
					for _, l := range c.lines {
						for _, p := range l.points {
							if p.lost {
								lost++
							}
						}
					}
					if lost > 0 {
						lost++ // in the legend
					}
					if n := len(ringed.FindAll(svg, -1)); n != lost {
						t.Errorf("%s: %d losses are marked, with the legend's, not %d", c.name, n, lost)
					}
				}
				for _, x := range r.Rows {
					if width == wide && !has(texts, programName(x)) {
						t.Errorf("no chart has %s", programName(x))
					}
					if !has(texts, x.Executor) {
						t.Errorf("no chart has %s", x.Executor)
					}
				}
			}
			b, err := page(r, charts)
			if err != nil {
				t.Fatal("page(r, charts):", err)
			}
			cells := cellsOf(t, b)
			for _, x := range r.Rows {
				if !slices.Contains(cells, x.Executor) || !slices.Contains(cells, programName(x)) || x.Runs > 0 && !slices.Contains(cells, duration(x.Median)) {
					t.Errorf("the page does not have %v", x.key())
				}
			}
			for _, want := range []string{r.Machine.CPU, r.Machine.Go} {
				if !bytes.Contains(b, []byte(html.EscapeString(want))) {
					t.Errorf("the page does not have %s", want)
				}
			}
		})
	}
}

// cellsOf parses a page and returns what is in the cells of its tables.
func cellsOf(t *testing.T, page []byte) (cells []string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal("html.Parse(bytes.NewReader(page)):", err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "td" {
			continue
		}
		var text strings.Builder
		for c := range n.Descendants() {
			if c.Type == html.TextNode {
				text.WriteString(c.Data)
			}
		}
		cells = append(cells, text.String())
	}
	return cells
}

// No label is cut at the edge of a chart, and none lies on another one.
func TestLabelsHaveRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("draws much")
	}
	for name, r := range keptReports(t) {
		for _, c := range chartsOf(r) {
			for _, width := range []vg.Length{wide, narrow} {
				texts := textsOf(t, c.svg(width, standing))
				for i, p := range texts {
					to := p.x + p.width()
					if p.x < 0 || to > float64(width)+0.5 {
						t.Errorf("%s, %s, %v wide: %q goes from %.0f to %.0f", name, c.name, width, p.text, p.x, to)
					}
					for _, q := range texts[:i] {
						if math.Abs(p.y-q.y) < 7 && p.x < q.x+q.width() && q.x < to {
							t.Errorf("%s, %s, %v wide: %q and %q overlap", name, c.name, width, p.text, q.text)
						}
					}
				}
			}
		}
	}
}

func (p piece) width() float64 {
	return float64(styleOf(vg.Length(p.size), ink, p.bold).Width(p.text))
}

// Rows that something else is faster than are losses, filch's alone.
func TestWhatSomethingElseIsFasterThanIsALoss(t *testing.T) {
	of := func(executor string, workers int, took time.Duration) *row {
		return &row{Workload: "w", Executor: executor, Workers: workers, Runs: 2, OK: true, Min: took - 1, Median: took, Max: took + 1}
	}
	rows := []*row{of("serial", 1, 100), of("at-once", 2, 10), of("filch", 1, 150), of("goroutine", 1, 140), of("filch", 2, 110), of("filch-chain", 2, 80), of("pond", 2, 79), of("pond", 4, 1),
		{Workload: "w", Executor: "basic", Workers: 2}, {Workload: "other", Executor: "pond", Workers: 2, Runs: 1, OK: true, Median: 1}}
	rows[7].Size = "another"
	var got []string
	for _, l := range losses(rows) {
		got = append(got, l.row.Executor+strconv.Itoa(l.row.Workers)+" "+l.to.Executor+" "+l.Times()+" "+l.Runs())
	}
	want := []string{"filch1 goroutine 1.07 all runs slower", "filch2 pond 1.39 all runs slower", "filch-chain2 pond 1.01 runs overlap"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	rows[6].OK = false // a wrong answer is not faster than anything
	if l := losses(rows); len(l) != 2 || l[1].to.Executor != "serial" {
		t.Errorf("losses(rows): %v", l)
	}
}

// A page needs nothing from elsewhere, and runs nothing, whatever stands in the names; those are text.
func TestPageNeedsNoNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("draws much")
	}
	r := someReport()
	hostile := `<script src="//x.example/y.js">&"'`
	for _, x := range r.Rows {
		x.Workload = hostile
	}
	const colour = "fill:#FFFFFF;" // what drawings say of their ground, here as a name
	r.Rows[3].Executor = colour
	r.Machine.CPU = hostile
	all := []report{r}
	for _, r := range keptReports(t) {
		all = append(all, r)
	}
	for _, r := range all {
		b, err := page(r, chartsOf(r))
		if err != nil {
			t.Fatal("page(r, chartsOf(r)):", err)
		}
		doc, err := html.Parse(bytes.NewReader(b))
		if err != nil {
			t.Fatal("html.Parse(bytes.NewReader(b)):", err)
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains([]string{"script", "link", "img", "image", "iframe", "object", "embed", "use", "base", "form"}, n.Data) {
				t.Errorf("a %s", n.Data)
			}
			for _, a := range n.Attr {
				if strings.Contains(a.Val, "url(") || strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("%s: %s=%q", n.Data, a.Key, a.Val)
				}
			}
		}
		for _, never := range []string{"http:", "https:", "@import", "url(", "ZgotmplZ"} {
			if bytes.Contains(b, []byte(never)) {
				t.Errorf("%s in the page", never)
			}
		}
		for _, c := range chartsOf(r) {
			svg := c.svg(wide, standing)
			if n := bytes.Count(svg, []byte("http")); n != 1 || !bytes.Contains(svg, []byte(`xmlns="http://www.w3.org/2000/svg"`)) {
				t.Errorf("%s: %d addresses", c.name, n)
			}
			textsOf(t, svg)
		}
	}
	texts := textsOf(t, chartsOf(r)[0].svg(wide, standing))
	if !slices.ContainsFunc(texts, func(p piece) bool { return strings.HasPrefix(p.text, `<script src="//x`) }) {
		t.Errorf("the name is not in %v", texts)
	}
	if !has(texts, colour) {
		t.Errorf("%s is not in %v", colour, texts)
	}
}

// What is drawn can be told from its ground, in both themes: by the ratios of the WCAG, 4.5 for text and 3
// for marks.
func TestColoursCanBeRead(t *testing.T) {
	for theme, of := range map[string]func(paint) string{"light": func(p paint) string { return p.light }, "dark": func(p paint) string { return p.dark }} {
		for _, ground := range []paint{paper, band, shade} {
			for _, p := range slices.Concat(mine, others, []paint{harm, ink, faint}) {
				least := 3.0
				if p == ink || p == harm || p == faint && ground != shade || slices.Contains(mine, p) && ground == paper {
					least = 4.5
				}
				if c := contrast(of(p), of(ground)); c < least {
					t.Errorf("%s: %s on %s has %.2f, not %.1f", theme, p.name, ground.name, c, least)
				}
			}
		}
	}
	seen := map[string]string{}
	for _, p := range palette() {
		if other := seen[p.light]; other != "" || seen[p.name] != "" {
			t.Errorf("%s and %s are drawn alike", p.name, other)
		}
		seen[p.light], seen[p.name] = p.name, p.name
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) (l float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

// No two of 40 executors look alike.
func TestExecutorsLookDifferent(t *testing.T) {
	for _, ours := range []bool{true, false} {
		seen := map[[2]any]int{}
		for i := range 40 {
			l := look{"", ours, i}
			k := [2]any{l.paint(), i % shapes}
			if j, there := seen[k]; there {
				t.Errorf("%d looks like %d", i, j)
			}
			seen[k] = i
		}
	}
}

// someReport is a small report with runs that were kept.
func someReport() report {
	r := report{Machine: machine{OS: "linux", Arch: "amd64", CPU: "a processor", CPUs: 2, GOMAXPROCS: 2, Go: "go1.26"}}
	add := func(executor string, workers int, ms ...int) {
		x := &row{Workload: "fib", Size: "30", Executor: executor, Workers: workers, Forks: 1000, OK: true, Runs: len(ms)}
		for _, v := range ms {
			x.Times = append(x.Times, time.Duration(v)*time.Millisecond)
		}
		x.summarize()
		r.Rows = append(r.Rows, x)
	}
	add("serial", 1, 100, 101, 102, 103, 104, 105)
	add("filch", 1, 120, 121, 122, 123, 124, 125)
	add("filch", 2, 70, 71, 72, 73, 74, 75)
	add("goroutine", 2, 300, 301, 302, 303, 304, 305)
	r.Rows = append(r.Rows, &row{Workload: "fib", Size: "30", Executor: "basic", Workers: 2, Forks: 1000, Note: "deadlocks: as it waits"})
	compare(r.Rows)
	return r
}

// keep writes a report into a file.
func keep(t *testing.T, r report) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal("json.Marshal(r):", err)
	}
	return keepText(t, string(b))
}

func keepText(t *testing.T, s string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kept.json")
	if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
		t.Fatal("os.WriteFile(file, []byte(s), 0o644):", err)
	}
	return file
}

// A run draws what is drawn from its figures later, and these have the time of each run.
func TestARunDrawsWhatItKeeps(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.json")
	for _, args := range [][]string{
		{"fib", "--size", "12", "--executors", "filch,basic", "--runs", "2", "--json", kept},
		{"--from", kept},
	} {
		args = append(args, "--html", filepath.Join(dir, args[0]+".html"), "--svg", filepath.Join(dir, args[0]))
		if status, _, stderr := invoke(t, append([]string{"bench"}, args...)...); status != 0 {
			t.Fatalf("append(…): %v: %s", args, stderr)
		}
	}
	run, later := contents(t, filepath.Join(dir, "fib")), contents(t, filepath.Join(dir, "--from"))
	for _, name := range []string{"speed-up.svg", "overhead.svg", "scaling.svg", "spread.svg"} {
		if run[name] == "" || run[name] != later[name] {
			t.Errorf("%s: %d bytes, and %d later", name, len(run[name]), len(later[name]))
		}
	}
	a, _ := os.ReadFile(filepath.Join(dir, "fib.html"))
	b, _ := os.ReadFile(filepath.Join(dir, "--from.html"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("pages of %d and %d bytes differ", len(a), len(b))
	}
	r, err := readReport(kept)
	if err != nil {
		t.Fatal("readReport(kept):", err)
	}
	for _, x := range r.Rows {
		if len(x.Times) != x.Runs {
			t.Errorf("%v: %d times of %d runs", x.key(), len(x.Times), x.Runs)
		}
	}
}

// What cannot be drawn is told in one line, and no file is written or changed.
func TestWhatCannotBeDrawnIsToldInOneLine(t *testing.T) {
	good := keep(t, someReport())
	none := someReport()
	for _, x := range none.Rows {
		x.Runs, x.Times, x.Note = 0, nil, "deadlocks"
	}
	edited := func(edit func(r *report)) string {
		r := someReport()
		edit(&r)
		return keep(t, r)
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("as it was"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(page, []byte("as it was"), 0o644):`, err)
	}
	blocked := filepath.Join(page, "x")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"what should be drawn? Say --html or --svg", []string{"--from", good}},
		{"--from measures nothing: fib is one too many", []string{"fib", "--from", good, "--html", page}},
		{"--from knows no --runs", []string{"--runs", "3", "--from", good, "--html", page}},
		{"--from knows no --json", []string{"--json", "x", "--from", good, "--html", page}},
		{"no such file", []string{"--from", filepath.Join(dir, "none"), "--html", page}},
		{"is a directory", []string{"--from", dir, "--html", page}},
		{"is not what filch bench --json writes: unexpected end", []string{"--from", keepText(t, ""), "--html", page}},
		{"is not what filch bench --json writes: invalid character", []string{"--from", keepText(t, "{}{}"), "--html", page}},
		{"it has no rows", []string{"--from", keepText(t, "{}"), "--html", page}},
		{"row 1 is null", []string{"--from", keepText(t, `{"rows": [null]}`), "--html", page}},
		{"row 2: fib 30, filch on 0: 0 workers", []string{"--from", edited(func(r *report) { r.Rows[1].Workers = 0 }), "--html", page}},
		{"median 1 ns is not between", []string{"--from", edited(func(r *report) { r.Rows[1].Median = 1 }), "--html", page}},
		{"5 times of 6 runs", []string{"--from", edited(func(r *report) { r.Rows[1].Times = r.Rows[1].Times[1:] }), "--html", page}},
		{"not between the least and the greatest", []string{"--from", edited(func(r *report) { r.Rows[1].Times[3] = 1 }), "--html", page}},
		{"or no machine's", []string{"--from", edited(func(r *report) { r.Rows[1].NsPerFork = 1e300 }), "--html", page}},
		{"a figure is negative", []string{"--from", edited(func(r *report) { r.Rows[1].Speedup = -1 }), "--html", page}},
		{"fib 30, filch on 2 is there twice", []string{"--from", edited(func(r *report) { r.Rows[1].Workers = 2 }), "--html", page}},
		{`"a\nb" is no name`, []string{"--from", edited(func(r *report) { r.Rows[1].Workload = "a\nb" }), "--html", page}},
		{"is no name", []string{"--from", edited(func(r *report) { r.Rows[1].Executor = strings.Repeat("x", 201) }), "--html", page}},
		{"machine: \"\\x1b\" is no name", []string{"--from", edited(func(r *report) { r.Machine.CPU = "\x1b" }), "--html", page}},
		{"nothing has run, so there is nothing to draw", []string{"--from", keep(t, none), "--svg", filepath.Join(dir, "a")}},
		{"is a folder", []string{"--from", good, "--html", dir}},
		{"--svg: mkdir", []string{"--from", good, "--html", page, "--svg", blocked}},
		{"--html " + blocked, []string{"--from", good, "--html", blocked}},
		{"is the file of the figures as well", []string{"--from", good, "--html", good}},
		{"is the file of the figures as well", []string{"fib", "--json", page, "--html", page}},
		{"is the file of the figures as well", []string{"--from", linkTo(t, good), "--html", good}},
		{"is the file of the figures as well", []string{"--from", good, "--html", linkTo(t, good)}},
		{"--html " + filepath.Join(dir, "speed-up.svg") + ": --svg writes its pictures there", []string{"--from", good, "--html", filepath.Join(dir, "speed-up.svg"), "--svg", dir}},
		{"--json " + filepath.Join(dir, "x.svg") + ": --svg writes its pictures there", []string{"fib", "--json", filepath.Join(dir, "x.svg"), "--svg", dir + "/."}},
		{"it is larger than 64 MB", []string{"--from", keepText(t, strings.Repeat(" ", 64<<20+1)), "--html", page}},
		{"--html " + blocked, []string{"fib", "--html", blocked}},
		{"--html " + blocked, []string{"tasks", "--html", blocked}},
		{"--html " + blocked, []string{"par", "--html", blocked}},
		{"--html " + blocked, []string{"sssp", "--html", blocked}},
	} {
		status, stdout, stderr := invoke(t, append([]string{"bench"}, c.args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if b, err := os.ReadFile(page); err != nil || string(b) != "as it was" {
		t.Errorf("os.ReadFile(page): %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 { // the page, and the folder a
		t.Errorf("left behind: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if b, err := pageOf(none); err != nil || !bytes.Contains(b, []byte("Nothing has run")) {
		t.Errorf("%v: a page without a figure does not say so", err)
	}
}

// linkTo returns a link to a file.
func linkTo(t *testing.T, file string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	return link
}

func pageOf(r report) ([]byte, error) { return page(r, chartsOf(r)) }

// Axes have a few round numbers, however far or near their ends are.
func TestAxesHaveAFewRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		most      int
		want      string
	}{
		{0.003, 30, 12, "0.01 0.1 1 10"},
		{0.9, 2.1, 12, "0.9 1 1.2 1.4 1.6 1.8 2"},
		{0.97, 1.04, 12, "0.98 1 1.02 1.04"},
		{1, 1e12, 5, "1 1000 1e+06 1e+09 1e+12"},
		{0.2, 40, 12, "0.3 1 3 10 30"},
		{11300, 13800, 5, "11500 12000 12500 13000 13500"},
	} {
		var got []string
		for _, tick := range ticksBetween(c.low, c.high, c.most) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %v, not %s", c.low, c.high, got, c.want)
		}
	}
	for low := 1e-6; low < 1e6; low *= 3.7 {
		for ratio := 1.01; ratio < 1e10; ratio *= 1.9 {
			if n := len(ticksBetween(low, low*ratio, 6)); n < 2 && ratio > 1.1 || n > 6 {
				t.Errorf("%v to %v: %d ticks", low, low*ratio, n)
			}
		}
	}
}

// Whatever is taken for a report is drawn.
func FuzzWhatIsReadIsDrawn(f *testing.F) {
	b, err := json.Marshal(someReport())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"rows":[{"workload":"w","executor":"filch","workers":1,"runs":1,"max_ns":9000000000000000000,"speedup":1e14,"serial_ns":1,"ok":true},{"workload":"w","executor":"x","workers":900000000,"runs":1,"max_ns":1,"median_ns":1,"speedup":1e-14,"serial_ns":1,"forks":-1,"ns_per_fork":1e-14}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r report
		if len(b) > 10_000 || json.Unmarshal(b, &r) != nil || r.check() != nil {
			return
		}
		if _, err := pageOf(r); err != nil {
			t.Error("pageOf(r):", err)
		}
		for _, c := range chartsOf(r) {
			textsOf(t, c.svg(wide, standing))
		}
		if c, err := compareReports(r, r, false); err == nil {
			c.print(io.Discard)
		}
	})
}

// A chart in a file has its colours as plain attributes, so that programs show it that know no variables: only dark ones are by class.
func TestChartsInFilesHavePlainColours(t *testing.T) {
	shape := regexp.MustCompile(`<(?:path|text|rect)[^>]*>`)
	for _, name := range []string{"summary/overhead", "summary/speed-up", "tasks/scaling", "tasks/spread"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", name+".svg"))
		if err != nil {
			t.Fatal("os.ReadFile(…):", err)
		}
		if strings.Contains(string(b), "var(") {
			t.Errorf("%s.svg has variables", name)
		}
		for _, s := range shape.FindAllString(string(b), -1) {
			if !strings.Contains(s, ` fill="#`) && !strings.Contains(s, ` stroke="#`) {
				t.Errorf("%s.svg: no plain colour: %s", name, s)
			}
		}
	}
}
