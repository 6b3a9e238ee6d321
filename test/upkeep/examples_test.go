package upkeep

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported name has a runnable example.
func TestEveryExportedNameHasAnExample(t *testing.T) {
	atRoot(t)
	for dir := range packages(t) {
		if strings.HasPrefix(filepath.ToSlash(dir), "internal/") {
			continue
		}
		fset := token.NewFileSet()
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(`filepath.Glob(filepath.Join(dir, "*.go")):`, err)
		}
		var parsed []*ast.File
		for _, name := range files {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal("parser.ParseFile(fset, name, nil, parser.ParseComments):", err)
			}
			parsed = append(parsed, f)
		}
		pkg, err := doc.NewFromFiles(fset, parsed, module+"/"+dir)
		if err != nil {
			t.Fatal(`doc.NewFromFiles(fset, parsed, module+"/"+dir):`, err)
		}
		check := func(name string, examples []*doc.Example) {
			for _, e := range examples {
				if e.Output != "" || e.EmptyOutput {
					return
				}
			}
			t.Errorf("package %q: %s has no example with output", dir, name)
		}
		for _, f := range pkg.Funcs {
			check(f.Name, f.Examples)
		}
		for _, typ := range pkg.Types {
			check(typ.Name, typ.Examples)
			for _, f := range typ.Funcs {
				check(f.Name, f.Examples)
			}
			for _, f := range typ.Methods {
				check(typ.Name+"."+f.Name, f.Examples)
			}
		}
	}
}
