// Command house prints what the source is like as a house: rooms, doors, stairs.
//
//	go run ./internal/house
//
// It counts files and lines, the imports between folders and the references between the files
// of the root, the largest files and functions, the methods of the types that have the most, and the files that mention what watches.
// A reference is upward if it goes against the order in order.txt, from the bottom up: what
// stands lower must not know what stands higher.
package main

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

//go:embed order.txt
var order string

//go:embed instruments.txt
var instrumentList string

func main() {
	log.SetFlags(0)
	dir := flag.String("C", ".", "the root of the repository")
	n := flag.Int("n", 8, "how many of the largest to print")
	flag.Parse()
	h, err := measure(*dir)
	if err != nil {
		log.Fatal("house: ", err)
	}
	h.print(os.Stdout, *n)
}

// A file is one of the files of the module, but for tests.
type file struct {
	name  string // from the root of the repository
	lines int
}

// A reference is that something in one file uses something that another declares.
type reference struct{ from, to string }

// A function is as long as it is from its func to its last brace.
type function struct {
	name  string
	file  string
	lines int
}

// A typ is a type with methods.
type typ struct {
	name    string
	methods int
	files   map[string]bool
}

// A house is what was measured.
type house struct {
	files     []file
	functions []function
	types     map[string]*typ
	folders   map[string]string // by path of import
	imports   map[reference]int // between folders
	doors     map[reference]int // between files of the root, and how many names they are for
	floors    map[string]int    // of files and folders, by order.txt
	unknown   []string          // folders, and files of the root, that order.txt does not have

	instruments []*instrument
}

// An instrument watches the scheduler, or decorates what it runs.
type instrument struct {
	name     string
	most     int             // files that may mention it
	of       map[string]bool // folders and files that it consists of
	mentions map[string]bool // files that refer to something of it
}

// has reports whether a file is one of the instrument.
func (i *instrument) has(file string) bool {
	return i.of[file] || i.of[filepath.ToSlash(filepath.Dir(file))]
}

// plain are the folders of what runs, and does not watch.
var plain = []string{".", "deque", "flow", "internal/engine", "internal/place", "internal/queue", "internal/task", "ordered", "par", "strand"}

// mention notes that a file refers to something that another declares.
func (h *house) mention(from, to string) {
	if !slices.Contains(plain, filepath.ToSlash(filepath.Dir(from))) {
		return
	}
	for _, i := range h.instruments {
		if i.has(to) && !i.has(from) {
			i.mentions[from] = true
		}
	}
}

// measure reads the packages of the module in dir.
func measure(dir string) (*house, error) {
	h := &house{
		types: map[string]*typ{}, folders: map[string]string{},
		imports: map[reference]int{}, doors: map[reference]int{}, floors: map[string]int{},
	}
	for line := range strings.Lines(instrumentList) {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			most, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, fmt.Errorf("instruments.txt: %s: %w", f[0], err)
			}
			i := &instrument{f[0], most, map[string]bool{}, map[string]bool{}}
			for _, of := range f[2:] {
				i.of[of] = true
			}
			h.instruments = append(h.instruments, i)
		}
	}
	for line := range strings.Lines(order) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			for _, name := range strings.Fields(line) {
				h.floors[name] = len(h.floors)
			}
		}
	}
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Standard}}\t{{.Dir}}", "./...")
	list.Dir = dir
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	export := map[string]string{}
	var ours [][2]string
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		export[f[0]] = f[1]
		if f[2] != "true" {
			ours = append(ours, [2]string{f[0], f[3]})
		}
	}
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range ours {
		folder, err := filepath.Rel(root, p[1])
		if err != nil {
			return nil, err
		}
		h.folders[p[0]] = filepath.ToSlash(folder)
	}
	for _, p := range ours {
		if err := h.add(fset, from, root, p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// add measures one package.
func (h *house) add(fset *token.FileSet, from types.Importer, root, path, dir string) error {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return err
	}
	if len(pkg.GoFiles) == 0 {
		return nil // of tests alone
	}
	here := h.folders[path]
	if _, known := h.floors[here]; !known {
		h.unknown = append(h.unknown, here)
	}
	for _, imported := range pkg.Imports {
		if to, ok := h.folders[imported]; ok {
			h.imports[reference{here, to}]++
		}
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := (&types.Config{Importer: from}).Check(path, fset, files, info); err != nil {
		return err
	}
	name := func(pos token.Pos) string {
		rel, _ := filepath.Rel(root, fset.Position(pos).Filename)
		return filepath.ToSlash(rel)
	}
	seen := map[[2]any]bool{}
	for _, f := range files {
		in := name(f.Pos())
		h.files = append(h.files, file{in, fset.File(f.Pos()).LineCount()})
		if _, known := h.floors[in]; !known && !strings.Contains(in, "/") {
			h.unknown = append(h.unknown, in)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				h.function(d, in, fset.Position(d.End()).Line-fset.Position(d.Pos()).Line+1)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := info.Uses[id]
			if o == nil || !o.Pos().IsValid() || o.Pkg() == nil {
				return true
			}
			if isGlobal(o) {
				h.mention(in, h.declaredIn(o, fset))
			}
			if strings.Contains(in, "/") || o.Pkg().Path() != path {
				return true
			}
			to := name(o.Pos())
			if key := [2]any{in, o}; to != in && !seen[key] && isGlobal(o) {
				seen[key] = true
				h.doors[reference{in, to}]++
			}
			return true
		})
	}
	return nil
}

// declaredIn returns the file in which o is declared, from the root of the repository, or from that of Go.
func (h *house) declaredIn(o types.Object, fset *token.FileSet) string {
	folder, ours := h.folders[o.Pkg().Path()]
	if !ours {
		folder = o.Pkg().Path()
	}
	return filepath.ToSlash(filepath.Join(folder, filepath.Base(fset.Position(o.Pos()).Filename)))
}

// isGlobal reports whether o is known outside of a function: a name of the package, a field or
// a method.
func isGlobal(o types.Object) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// function counts a function, and a method of its type.
func (h *house) function(d *ast.FuncDecl, in string, lines int) {
	name := d.Name.Name
	if d.Recv != nil {
		recv := strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*")
		recv, _, _ = strings.Cut(recv, "[")
		if dir := filepath.Dir(in); dir != "." {
			recv = filepath.Base(dir) + "." + recv
		}
		t := h.types[recv]
		if t == nil {
			t = &typ{name: recv, files: map[string]bool{}}
			h.types[recv] = t
		}
		t.methods++
		t.files[in] = true
		name = recv + "." + name
	}
	h.functions = append(h.functions, function{name, in, lines})
}

// upward returns the references of doors that go up, the most frequent first.
func (h *house) upward(doors map[reference]int) (up []reference) {
	for r := range doors {
		if h.floors[r.from] < h.floors[r.to] {
			up = append(up, r)
		}
	}
	slices.SortFunc(up, func(a, b reference) int {
		return cmp.Or(cmp.Compare(doors[b], doors[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return up
}

// print writes tables, with n of the largest in each.
func (h *house) print(w io.Writer, n int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer t.Flush()
	lines, rooms := map[string]int{}, map[string]int{}
	for _, f := range h.files {
		dir := filepath.ToSlash(filepath.Dir(f.name))
		lines[dir] += f.lines
		rooms[dir]++
	}
	fmt.Fprintln(t, "folder\tfiles\tlines\t")
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(t, "%s\t%d\t%d\t\n", dir, rooms[dir], lines[dir])
	}
	up := h.upward(h.imports)
	fmt.Fprintf(t, "\nimports between folders: %d; upward: %d\n", len(h.imports), len(up))
	for _, r := range up {
		fmt.Fprintf(t, "%s\tto %s\t\n", r.from, r.to)
	}
	up = h.upward(h.doors)
	uses, usesUp := 0, 0
	for r, k := range h.doors {
		uses += k
		if h.floors[r.from] < h.floors[r.to] {
			usesUp += k
		}
	}
	fmt.Fprintf(t, "\nreferences between the root's files: %d pairs, %d names; upward: %d pairs, %d names\n", len(h.doors), uses, len(up), usesUp)
	for _, r := range up[:min(n, len(up))] {
		fmt.Fprintf(t, "%s\tto %s\t%d\t\n", r.from, r.to, h.doors[r])
	}
	if len(h.unknown) > 0 {
		fmt.Fprintf(t, "not in order.txt: %s\n", strings.Join(h.unknown, ", "))
	}
	fmt.Fprintln(t, "\ninstruments\tfiles that mention them\t")
	for _, i := range h.instruments {
		fmt.Fprintf(t, "%s\t%d\t\n", i.name, len(i.mentions))
	}
	fmt.Fprintln(t, "\nlargest files\tlines\t")
	slices.SortFunc(h.files, func(a, b file) int { return cmp.Or(b.lines-a.lines, cmp.Compare(a.name, b.name)) })
	for _, f := range h.files[:min(n, len(h.files))] {
		fmt.Fprintf(t, "%s\t%d\t\n", f.name, f.lines)
	}
	fmt.Fprintln(t, "\nlongest functions\tfile\tlines\t")
	slices.SortFunc(h.functions, func(a, b function) int {
		return cmp.Or(b.lines-a.lines, cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name))
	})
	for _, f := range h.functions[:min(n, len(h.functions))] {
		fmt.Fprintf(t, "%s\t%s\t%d\t\n", f.name, f.file, f.lines)
	}
	fmt.Fprintln(t, "\ntypes\tmethods\tin files\t")
	byMethods := slices.SortedFunc(maps.Values(h.types), func(a, b *typ) int {
		return cmp.Or(b.methods-a.methods, cmp.Compare(a.name, b.name))
	})
	for _, x := range byMethods[:min(n, len(byMethods))] {
		fmt.Fprintf(t, "%s\t%d\t%d\t\n", x.name, x.methods, len(x.files))
	}
}
