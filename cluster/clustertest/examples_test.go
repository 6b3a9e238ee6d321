package clustertest_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parsed returns the files of a pattern.
func parsed(t *testing.T, pattern string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal("filepath.Glob:", err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal("parser.ParseFile:", err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatal("no files", pattern)
	}
	return files
}

// typeOf finds the types of package cluster in a comment.
var typeOf = regexp.MustCompile(`\bcluster\.(\w+)`)

// Every exported function, type and method of package cluster is used by a runnable example. They are in this module, since they
// need a server, so the name of an example does not tell.
func TestEveryExportedNameIsInAnExample(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	note := func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			used["."+s.Sel.Name] = true
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "cluster" {
				used[s.Sel.Name] = true
			}
		}
		return true
	}
	for _, e := range doc.Examples(parsed(t, "example*_test.go")...) {
		if e.Output != "" {
			ast.Inspect(e.Code, note)
			for _, c := range e.Comments { // which say of what type a value is
				for _, m := range typeOf.FindAllStringSubmatch(c.Text(), -1) {
					used[m[1]] = true
				}
			}
		}
	}
	for _, f := range parsed(t, "../*.go") {
		for _, d := range f.Decls {
			for _, name := range exportedIn(d) {
				if !used[name] {
					t.Errorf("no example with output uses %s of package cluster", name)
				}
			}
		}
	}
}

// exportedIn returns the functions, types and methods that a declaration of a file exports; methods begin with a dot.
func exportedIn(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch {
		case !d.Name.IsExported() || slices.ContainsFunc([]string{"Test", "Fuzz", "Benchmark"}, func(p string) bool { return strings.HasPrefix(d.Name.Name, p) }):
		case d.Recv == nil:
			names = append(names, d.Name.Name)
		case !slices.Contains([]string{"Error", "Is", "Unwrap", "String", "Name", "Marshal", "Unmarshal", "LogValue"}, d.Name.Name): // of interfaces
			if ast.IsExported(receiver(d.Recv.List[0].Type)) {
				names = append(names, "."+d.Name.Name)
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
