package upkeep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// documents are what users read, as opposed to DESIGN.md and the READMEs beside code,
// which are notes of experiments and name the machine of each.
func documents(t *testing.T) []string {
	more, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(`filepath.Glob("docs/*.md"):`, err)
	}
	return append([]string{"README.md"}, more...)
}

func read(t *testing.T, file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	return string(data)
}

// blank replaces what re matches by spaces, and leaves lines where they are.
func blank(text string, re *regexp.Regexp) string {
	return re.ReplaceAllStringFunc(text, func(s string) string {
		b := bytes.Repeat([]byte{' '}, len(s))
		for i := range b {
			if s[i] == '\n' {
				b[i] = '\n'
			}
		}
		return string(b)
	})
}

var (
	generated = regexp.MustCompile(`(?s)<!-- (?:figures|limits|record|tune|cluster|filled: \w+) -->.*?<!-- end -->`)
	fenced    = regexp.MustCompile("(?ms)^```.*?^```")
	coded     = regexp.MustCompile("(?m)^    .*$|`[^`\n]*`")

	program = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```")
	prints  = regexp.MustCompile(`//.*\bprints (.*)`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

	// A figure is a number with a unit, and in Markdown what says where it comes from.
	figure = regexp.MustCompile(`((?:\d[\d.,]* to )?\d[\d.,]*)\s(ns|us|µs|ms|s|nanoseconds?|microseconds?|milliseconds?|seconds?|times)\b(?:<!-- (\w+)(?:: (.*?))? -->)?` +
		`|((?:\d[\d.,]* to )?\d[\d.,]*)\s?(%|percent)(?:<!-- (\w+)(?:: (.*?))? -->)?`)
	directive = regexp.MustCompile(`^//figure:(\w+) ((?:[\d.,]+ to )?[\d.,]+) (\S+?)(?:, (.*))?$`)
)

// The programs in README.md and docs/cluster.md compile, and print what they say. Those that do not say so need servers.
func TestProgramsInDocsPrintWhatTheySay(t *testing.T) {
	atRoot(t)
	var names, programs []string
	for _, file := range []string{"README.md", "docs/cluster.md"} {
		all := program.FindAllStringSubmatch(read(t, file), -1)
		if len(all) == 0 {
			t.Fatal(file, "has no program")
		}
		for i, p := range all {
			names, programs = append(names, fmt.Sprint(filepath.Base(file), i+1)), append(programs, p[1])
		}
	}
	for i, command := range compile(t, programs) {
		t.Run(names[i], func(t *testing.T) {
			var want strings.Builder
			for _, m := range prints.FindAllStringSubmatch(programs[i], -1) {
				fmt.Fprintln(&want, strings.ReplaceAll(m[1], ", then ", "\n"))
			}
			if want.Len() == 0 {
				return
			}
			cmd := exec.Command(command)
			cmd.Dir = t.TempDir() // where it may write
			got, err := cmd.CombinedOutput()
			if err != nil || string(got) != want.String() {
				t.Errorf("prints\n%s(%v), not\n%s", got, err, want.String())
			}
		})
	}
}

// Links to files, and to their headings, lead somewhere.
func TestLinksResolve(t *testing.T) {
	atRoot(t)
	for _, file := range append(documents(t), "CHANGELOG.md", "SECURITY.md") {
		checkLinks(t, file)
	}
	for _, file := range designs(t) {
		checkLinks(t, file)
	}
}

// designs are what is written for those who change filch.
func designs(t *testing.T) []string {
	files := []string{"DESIGN.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/design/*.md", "*/README.md", "internal/*/README.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal("filepath.Glob(pattern):", err)
		}
		files = append(files, more...)
	}
	return files
}

func checkLinks(t *testing.T, file string) {
	for _, m := range link.FindAllStringSubmatch(blank(blank(read(t, file), fenced), coded), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		path, anchor, _ := strings.Cut(m[1], "#")
		to := file
		if path != "" {
			to = filepath.Join(filepath.Dir(file), path)
		}
		if _, err := os.Stat(to); err != nil {
			t.Errorf("os.Stat(to): %s: %s: %v", file, m[1], err)
		} else if anchor != "" && !hasHeading(read(t, to), anchor) {
			t.Errorf("%s: %s: there is no such heading", file, m[1])
		}
	}
}

// The source files that the notes on the design name are there: in the root, beside the notes, or
// where the path says.
func TestFilesThatAreNamedExist(t *testing.T) {
	atRoot(t)
	named := regexp.MustCompile("`([\\w./-]+\\.go)`")
	for _, file := range designs(t) {
		for _, m := range named.FindAllStringSubmatch(read(t, file), -1) {
			_, err := os.Stat(m[1])
			if _, beside := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil && beside != nil {
				t.Errorf("%s names %s: %v", file, m[1], err)
			}
		}
	}
}

// Each file of the root is in the map of DESIGN.md.
func TestMapHasAllFiles(t *testing.T) {
	atRoot(t)
	_, table, _ := strings.Cut(read(t, "DESIGN.md"), "\n## Map\n")
	table, _, _ = strings.Cut(table, "\n## ")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") && !strings.Contains(table, "`"+file+"`") {
			t.Errorf("DESIGN.md, Map: there is no %s", file)
		}
	}
}

func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.ReplaceAll(m[1], " ", "-"))
		if regexp.MustCompile(`[^\w-]`).ReplaceAllString(name, "") == anchor {
			return true
		}
	}
	return false
}

// Each figure with a unit stands in a generated block, or names the row of docs/bench
// that it is measured by, or says that it is set and not measured. FILCH_FIGURES=write
// writes the figures of Markdown as they are measured.
func TestFiguresAreMeasured(t *testing.T) {
	atRoot(t)
	for _, file := range documents(t) {
		text := read(t, file)
		bare := blank(blank(blank(text, generated), fenced), coded)
		var out strings.Builder
		done := 0
		for _, at := range figure.FindAllStringSubmatchIndex(bare, -1) {
			f := figureAt(bare, at)
			want, err := f.measured()
			if err == nil && want == f.number {
				continue
			}
			out.WriteString(text[done:f.from])
			done = f.from
			if err == nil && os.Getenv("FILCH_FIGURES") == "write" {
				out.WriteString(want)
				done += len(f.number)
				continue
			}
			t.Errorf("f.measured(): %s:%d: %s %s: %v", file, 1+strings.Count(text[:f.from], "\n"), f.number, f.unit, f.complaint(want, err))
		}
		if out.WriteString(text[done:]); out.String() != text {
			if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
				t.Error("os.WriteFile(file, []byte(out.String()), 0o666):", err)
			}
		}
	}
}

// Pages begin with what the reader will be able to do, and end with where to go next. There are few: what is the same is said once.
func TestPagesBeginAndEnd(t *testing.T) {
	atRoot(t)
	reference := []string{"docs/README.md", "docs/cluster-command.md", "docs/glossary.md", "docs/theory.md", "docs/tutorial.md"}
	pages := 0
	for _, file := range documents(t)[1:] {
		if file == "docs/tutorial.md" || !slices.Contains(reference, file) {
			_, text, _ := strings.Cut(read(t, file), "\n\n")
			lines := strings.Split(strings.TrimSpace(text), "\n\n")
			if !strings.HasPrefix(text, "After ") || !strings.HasPrefix(lines[len(lines)-1], "Next: ") {
				t.Errorf("%s begins with %.40q and ends with %.40q", file, text, lines[len(lines)-1])
			}
		}
		if !slices.Contains(reference, file) {
			pages++
		}
	}
	if pages > 16 {
		t.Errorf("there are %d pages", pages)
	}
}

// namesTheMachine reports whether text names the machine that a file of docs/bench is from.
func namesTheMachine(t *testing.T, file, text string) bool {
	var all struct{ Machine struct{ CPU string } }
	if err := json.Unmarshal([]byte(read(t, "docs/bench/"+file+".json")), &all); err != nil {
		t.Fatal("json.Unmarshal(…, &all):", err)
	}
	for _, word := range strings.Fields(strings.ReplaceAll(all.Machine.CPU, "(R)", "")) {
		if word != "Processor" && !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// A page that takes figures from docs/bench names the machine of each, and says of no figure that it is from another.
func TestPagesNameTheMachineOfTheirFigures(t *testing.T) {
	atRoot(t)
	measured := regexp.MustCompile(`<!-- (\w+): `)
	for _, file := range documents(t) {
		text := blank(blank(blank(read(t, file), generated), fenced), coded)
		sources := map[string]bool{}
		for _, m := range measured.FindAllStringSubmatch(text, -1) {
			sources[m[1]] = true
		}
		for source := range sources {
			if !namesTheMachine(t, source, text) {
				t.Errorf("%s has figures of docs/bench/%s.json and does not name its machine", file, source)
			}
		}
		if _, says, ok := strings.Cut(text, "Figures on this page are from"); ok {
			for source := range sources {
				if says, _, _ = strings.Cut(says, "."); !namesTheMachine(t, source, says) {
					t.Errorf("%s says that its figures are from%s, and docs/bench/%s.json is from another machine", file, says, source)
				}
			}
		}
	}
}

// docs/design/atomics.md says of each atomic field what writes and what reads it: by the field's name,
// or, if the type is there for its atomic fields alone, the name of that.
func TestAllAtomicsAreWrittenDown(t *testing.T) {
	atRoot(t)
	table := read(t, "docs/design/atomics.md")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(`filepath.Glob("*.go"):`, err)
	}
	for _, dir := range []string{"internal/engine", "internal/task", "internal/checks", "trace"} {
		more, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(`filepath.Glob(dir + "/*.go"):`, err)
		}
		files = append(files, more...)
	}
	whole := []string{"stats", "Totals", "InPlace", "outcomes", "jobState", "State", "roomCount", "budget", "globalCount"}
	names := map[string]bool{}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal("parser.ParseFile(…):", err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				addNames(names, v.Names)
			}
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			names[spec.Name.Name] = true
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range st.Fields.List {
				addNames(names, field.Names)
				if !isAtomic(field.Type) {
					continue
				}
				for _, name := range field.Names {
					found++
					if !hasWord(table, name.Name) && !(slices.Contains(whole, spec.Name.Name) && hasWord(table, spec.Name.Name)) {
						t.Errorf("docs/design/atomics.md: there is no %s.%s", spec.Name.Name, name.Name)
					}
				}
			}
			return true
		})
	}
	if found < 20 {
		t.Errorf("found %d atomic fields only", found)
	}
	for _, row := range strings.Split(table, "\n") {
		where, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, code := range regexp.MustCompile("`[^`]*`").FindAllString(where, -1) {
			for _, name := range regexp.MustCompile(`\w+`).FindAllString(code, -1) {
				if !names[name] && !strings.HasPrefix(code, "`place.") && !strings.HasPrefix(where, " deque") {
					t.Errorf("docs/design/atomics.md: %s: nothing is named %s", code, name)
				}
			}
		}
	}
}

func addNames(names map[string]bool, more []*ast.Ident) {
	for _, name := range more {
		names[name.Name] = true
	}
}

// isAtomic reports whether t is a type of package sync/atomic.
func isAtomic(t ast.Expr) bool {
	if i, ok := t.(*ast.IndexExpr); ok {
		t = i.X
	}
	s, ok := t.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "atomic"
}

// hasWord reports whether word stands in text as code.
func hasWord(text, word string) bool {
	return regexp.MustCompile("`[^`\n]*\\b" + word + "\\b[^`\n]*`").MatchString(text)
}

// The limits in docs/choosing.md hold for the table above them.
func TestSmallCallsCostWhatIsSaid(t *testing.T) {
	atRoot(t)
	limits := map[string]map[string]float64{} // by function and number of elements, in µs
	block := regexp.MustCompile(`(?s)<!-- limits -->(.*?)<!-- end -->`).FindString(read(t, "docs/choosing.md"))
	for row := range strings.SplitSeq(block, "\n") {
		m := regexp.MustCompile(`^\| (.*) \| ([\d.]+) µs \| ([\d.]+) µs \|$`).FindStringSubmatch(row)
		if m == nil {
			continue
		}
		few, _ := strconv.ParseFloat(m[2], 64)
		many, _ := strconv.ParseFloat(m[3], 64)
		for _, name := range regexp.MustCompile("`(\\w+)`|^all others").FindAllStringSubmatch(m[1], -1) {
			limits[name[1]] = map[string]float64{"10": few, "100": many}
		}
	}
	if len(limits[""]) == 0 {
		t.Fatal("there are no limits for all others")
	}
	name, judged := "", 0
	block = regexp.MustCompile(`(?s)<!-- figures -->(.*?)<!-- end -->`).FindString(read(t, "docs/choosing.md"))
	for row := range strings.SplitSeq(block, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 11 {
			continue
		}
		if s := strings.TrimSpace(cells[1]); s != "" {
			name = s
		}
		limit, ok := limits[name]
		if !ok {
			limit = limits[""]
		}
		elements := strings.TrimSpace(cells[2])
		most, ok := limit[elements]
		serial, err := time.ParseDuration(strings.ReplaceAll(cells[3], " ", ""))
		if !ok || err != nil || strings.Contains(name, "-") { // a variant that is no function of par
			continue
		}
		for _, cell := range cells[9:11] {
			speed, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil {
				t.Fatal("strconv.ParseFloat(strings.TrimSpace(cell), 64):", err)
			}
			took := serial.Seconds() * 1e6
			judged++
			if more := took/(speed+0.005) - took; more > most { // as it is rounded
				t.Errorf("%s of %s takes %.2f µs more than serial, not %v at most", name, elements, more, most)
			}
		}
	}
	if judged == 0 {
		t.Error("no row of the table of figures in docs/choosing.md was judged")
	}
}

// In doc comments, lines such as
//
//	//figure:all 2.9 ns, a fork and join more than a call, fib 38
//
// say the same of the figures above them. FILCH_FIGURES=write writes them, too.
func TestFiguresInDocCommentsAreMeasured(t *testing.T) {
	atRoot(t)
	for _, dir := range []string{".", "par", "flow", "ordered", "deque", "basic"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(`filepath.Glob(filepath.Join(dir, "*.go")):`, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal("parser.ParseFile(fset, file, nil, …):", err)
			}
			for _, doc := range docsIn(f) {
				if os.Getenv("FILCH_FIGURES") == "write" {
					rewriteDoc(t, file, doc)
					continue
				}
				complaints, sources := checkDoc(doc)
				for _, complaint := range complaints {
					t.Errorf("token.NewFileSet(): %s: %s", fset.Position(doc.Pos()), complaint)
				}
				for _, source := range sources {
					if !namesTheMachine(t, source, doc.Text()) {
						t.Errorf("%s: the machine of docs/bench/%s.json is not named", fset.Position(doc.Pos()), source)
					}
				}
			}
		}
	}
}

// docsIn returns the comments that documentation shows.
func docsIn(f *ast.File) (docs []*ast.CommentGroup) {
	add := func(exported bool, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil && exported {
				docs = append(docs, g)
			}
		}
	}
	add(true, f.Doc)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name.IsExported(), n.Doc)
			return false
		case *ast.GenDecl:
			add(hasExported(n), n.Doc)
		case *ast.TypeSpec:
			add(n.Name.IsExported(), n.Doc, n.Comment)
			return n.Name.IsExported()
		case *ast.ValueSpec:
			add(n.Names[0].IsExported(), n.Doc, n.Comment)
		case *ast.Field:
			add(len(n.Names) > 0 && n.Names[0].IsExported(), n.Doc, n.Comment)
		}
		return true
	})
	return docs
}

func hasExported(d *ast.GenDecl) bool {
	return slices.ContainsFunc(d.Specs, func(s ast.Spec) bool {
		switch s := s.(type) {
		case *ast.TypeSpec:
			return s.Name.IsExported()
		case *ast.ValueSpec:
			return s.Names[0].IsExported()
		}
		return false
	})
}

// rewriteDoc writes the figures of doc, which is in file, as they are measured.
func rewriteDoc(t *testing.T, file string, doc *ast.CommentGroup) {
	for _, c := range doc.List {
		m := directive.FindStringSubmatch(c.Text)
		if m == nil {
			continue
		}
		f := aFigure{number: m[2], unit: m[3], source: m[1], row: m[4]}
		want, err := f.measured()
		if err != nil {
			t.Errorf("f.measured(): %s: %s %s: %v", file, f.number, f.unit, err)
			continue
		}
		if want == f.number {
			continue
		}
		text := read(t, file)
		for _, c := range doc.List {
			now := regexp.MustCompile(`\b`+regexp.QuoteMeta(f.number+" "+f.unit)+`\b`).ReplaceAllString(c.Text, want+" "+f.unit)
			text = strings.ReplaceAll(text, c.Text+"\n", now+"\n")
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(file, []byte(text), 0o666):", err)
		}
	}
}

// checkDoc returns what is wrong with the figures of doc, and the files of docs/bench that
// they are measured by.
func checkDoc(doc *ast.CommentGroup) (complaints, sources []string) {
	said := map[string]bool{}
	for _, c := range doc.List {
		m := directive.FindStringSubmatch(c.Text)
		if m == nil {
			continue
		}
		f := aFigure{number: m[2], unit: m[3], source: m[1], row: m[4]}
		said[f.number+" "+f.unit] = true
		want, err := f.measured()
		if err == nil && f.source != "set" {
			sources = append(sources, f.source)
		}
		if err != nil || want != f.number {
			complaints = append(complaints, fmt.Sprintf("%s %s: %v", f.number, f.unit, f.complaint(want, err)))
		}
	}
	text := strings.ReplaceAll(doc.Text(), "\n", " ")
	for _, at := range figure.FindAllStringSubmatchIndex(text, -1) {
		if f := figureAt(text, at); !said[f.number+" "+f.unit] {
			complaints = append(complaints, fmt.Sprintf("%s %s: %v", f.number, f.unit, errNoSource))
		}
	}
	return complaints, sources
}

// An aFigure is a figure in a text.
type aFigure struct {
	from         int // where it is
	number, unit string
	source, row  string // where it comes from: a file of docs/bench, or "set"
}

// figureAt returns the figure that was matched at the given places of text.
func figureAt(text string, at []int) aFigure {
	if at[2] < 0 {
		at = at[8:] // the other half of the expression
	}
	part := func(i int) string {
		if at[i] < 0 {
			return ""
		}
		return text[at[i]:at[i+1]]
	}
	return aFigure{from: at[2], number: part(2), unit: part(4), source: part(6), row: part(8)}
}

var errNoSource = errors.New("where is this measured? See \"Figures\" in CONTRIBUTING.md")

// measured returns the number as it should be written, with as many decimals as it has.
func (f aFigure) measured() (string, error) {
	if f.source == "set" {
		return f.number, nil
	}
	if f.source == "" {
		return "", errNoSource
	}
	v, err := lookUp(f.source, f.row, f.unit)
	if err != nil {
		return "", err
	}
	switch f.unit {
	case "us", "µs":
		v /= 1e3
	case "ms":
		v /= 1e6
	case "s":
		v /= 1e9
	}
	if strings.Contains(f.number, " to ") {
		return "", errors.New("a range is not in docs/bench: name one figure")
	}
	_, decimals, _ := strings.Cut(f.number, ".")
	return strconv.FormatFloat(v, 'f', len(decimals), 64), nil
}

func (f aFigure) complaint(want string, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("docs/bench/%s.json has %s for %q", f.source, want, f.row)
}

// lookUp returns a figure of docs/bench/<file>.json: that of a goal, by its words, or a
// field of a row, by workload, size, executor, number of workers and name. A goal has a ratio,
// and may have nanoseconds beside it, which are taken if the unit is one of time.
func lookUp(file, name, unit string) (float64, error) {
	data, err := os.ReadFile(filepath.Join("docs", "bench", file+".json"))
	if err != nil {
		return 0, err
	}
	var all struct {
		Rows []map[string]any
		Bars []struct {
			What    string
			Got, NS float64
		}
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return 0, err
	}
	for _, b := range all.Bars {
		if b.What == name && b.NS != 0 && unit != "times" && unit != "%" {
			return b.NS, nil
		}
		if b.What == name {
			return b.Got, nil
		}
	}
	for _, r := range all.Rows {
		field, ok := strings.CutPrefix(name, fmt.Sprintf("%v %v %v %v ", r["workload"], r["size"], r["executor"], r["workers"]))
		if v, isNumber := r[field].(float64); ok && isNumber {
			return v, nil
		}
	}
	return 0, fmt.Errorf("docs/bench/%s.json has no figure for %q", file, name)
}
