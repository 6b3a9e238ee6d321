package upkeep

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// words are the types of atomic words, by package. Each has one field, which is named
// word, and changes it in named steps.
var words = map[string][]string{
	module + "/internal/engine": {"jobState"},
	module + "/internal/place":  {"Hold", "Word"},
	module + "/internal/task":   {"State", "roomCount"},
	module + "/trace":           {"globalCount"},
}

// Nothing but the methods of a word touches it, and what a step returns is not dropped by
// accident: it says whether the step was made, or what the caller has to see to.
func TestWordsChangeByTheirMethods(t *testing.T) {
	atRoot(t)
	if testing.Short() {
		t.Skip("it compiles, to have the types of what is imported")
	}
	fset := token.NewFileSet()
	from := exportData(t, fset)
	for path, names := range words {
		dir := filepath.FromSlash("." + strings.TrimPrefix(path, module))
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		files := parseDir(t, fset, dir)
		pkg, err := (&types.Config{Importer: from}).Check(path, fset, files, info)
		if err != nil {
			t.Fatal("types.Config{…}.Check(path, fset, files, info):", err)
		}
		for _, name := range names {
			if pkg.Scope().Lookup(name) == nil {
				t.Errorf("%s has no type %s", path, name)
			}
		}
		for _, f := range files {
			for _, d := range f.Decls {
				checkWords(t, fset, info, d)
			}
		}
	}
}

// checkWords looks at one declaration.
func checkWords(t *testing.T, fset *token.FileSet, info *types.Info, d ast.Decl) {
	receiver := ""
	if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
		receiver = wordOf(info.Types[f.Recv.List[0].Type].Type)
	}
	ast.Inspect(d, func(n ast.Node) bool {
		var call ast.Expr
		switch n := n.(type) {
		case *ast.SelectorExpr:
			s := info.Selections[n]
			if s != nil && s.Kind() == types.FieldVal && s.Obj().Name() == "word" {
				if word := wordOf(s.Recv()); word != "" && word != receiver {
					t.Errorf("%v: a %s is changed by something else than its methods", fset.Position(n.Pos()), word)
				}
			}
		case *ast.ExprStmt:
			call = n.X
		case *ast.GoStmt:
			call = n.Call
		case *ast.DeferStmt:
			call = n.Call
		}
		if c, ok := call.(*ast.CallExpr); ok {
			if s, ok := c.Fun.(*ast.SelectorExpr); ok {
				m := info.Selections[s]
				if m != nil && m.Kind() == types.MethodVal && wordOf(receiverOf(m)) != "" && m.Type().(*types.Signature).Results().Len() > 0 {
					t.Errorf("%v: the result of %s is dropped; if that is meant, assign it to _", fset.Position(n.Pos()), s.Sel.Name)
				}
			}
		}
		return true
	})
}

// receiverOf returns the type that the method of m is declared for.
func receiverOf(m *types.Selection) types.Type {
	return m.Obj().(*types.Func).Signature().Recv().Type()
}

// wordOf returns the name of t if t is a word, or a pointer to one, and else "".
func wordOf(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	for _, name := range words[named.Obj().Pkg().Path()] {
		if name == named.Obj().Name() {
			return name
		}
	}
	return ""
}

// parseDir parses the files of the package in dir, but for tests and what is for the race
// detector.
func parseDir(t *testing.T, fset *token.FileSet, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(`filepath.Glob(filepath.Join(dir, "*.go")):`, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_race.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal("parser.ParseFile(…):", err)
		}
		files = append(files, f)
	}
	return files
}

// exportData returns what imports the packages that the root uses, as they were compiled.
func exportData(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", ".", "./trace").Output()
	if err != nil {
		t.Fatal("exec.Command(…).Output():", err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal("d.Decode(&p):", err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}
