// Command exported lists what packages export, a declaration a line, so that a change of the API shows in a diff.
//
//	make api # writes api/*.txt
//
// The lists have no comments, and say nothing of what is behind a build constraint that this platform does not meet.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packages are those with a promise in docs/stability.md, by the names of their lists.
var packages = map[string]string{
	"filch": ".", "par": "par", "par-blas": "par/blas", "flow": "flow", "strand": "strand", "deque": "deque", "ordered": "ordered", "steal": "steal", "basic": "basic",
	"trace": "trace", "trace-live": "trace/live", "trace-graph": "trace/graph",
	"cluster": "cluster", "cluster-embedded": "cluster/embedded",
	"plugin-filchprom": "plugin/filchprom", "plugin-filchotel": "plugin/filchotel",
	"plugin-filchclusterprom": "plugin/filchclusterprom", "plugin-filchclusterotel": "plugin/filchclusterotel",
}

func main() {
	log.SetFlags(0)
	for name, dir := range packages {
		text, err := list(dir)
		if err == nil {
			err = os.WriteFile(filepath.Join("api", name+".txt"), []byte(text), 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// list returns the exported declarations of the package in dir, sorted, a line each.
func list(dir string) (string, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return "", err
	}
	l := lister{fset: token.NewFileSet(), lends: map[string]bool{}}
	var files []*ast.File
	for _, file := range pkg.GoFiles {
		f, err := parser.ParseFile(l.fset, filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		files = append(files, f)
		l.embedded(f)
	}
	for _, f := range files {
		for _, decl := range f.Decls {
			l.declared(decl)
		}
	}
	slices.Sort(l.lines)
	return strings.Join(l.lines, "\n") + "\n", nil
}

type lister struct {
	fset  *token.FileSet
	lends map[string]bool // types that exported structs embed: users can call their methods
	lines []string
}

// embedded notes the types of this package that exported structs embed.
func (l *lister) embedded(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSpec)
		if !ok || !s.Name.IsExported() {
			return true
		}
		if t, ok := s.Type.(*ast.StructType); ok {
			for _, field := range t.Fields.List {
				if name := nameOf(field.Type); len(field.Names) == 0 && name != nil {
					l.lends[name.Name] = true
				}
			}
		}
		return false
	})
}

func (l *lister) declared(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return
		}
		if d.Recv != nil {
			if name := nameOf(d.Recv.List[0].Type); !name.IsExported() && !l.lends[name.Name] {
				return
			}
			d.Recv.List[0].Names = nil
		}
		d.Doc, d.Body = nil, nil
		l.add("", d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					l.typed(s)
				}
			case *ast.ValueSpec:
				l.values(d.Tok.String(), s)
			}
		}
	}
}

// nameOf returns the name of a type of this package that a receiver or an embedded field has, or nil.
func nameOf(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.StarExpr:
		return nameOf(t.X)
	case *ast.IndexExpr:
		return nameOf(t.X)
	case *ast.IndexListExpr:
		return nameOf(t.X)
	case *ast.Ident:
		return t
	}
	return nil
}

// typed adds a type, and its fields or methods, which are lines of their own.
func (l *lister) typed(s *ast.TypeSpec) {
	s.Doc, s.Comment = nil, nil
	prefix := "type " + s.Name.Name + " "
	switch t := s.Type.(type) {
	case *ast.StructType:
		l.fields(prefix+"struct, ", t.Fields)
		s.Type = &ast.StructType{Fields: &ast.FieldList{}}
	case *ast.InterfaceType:
		l.fields(prefix+"interface, ", t.Methods)
		s.Type = &ast.InterfaceType{Methods: &ast.FieldList{}}
	}
	l.add("type ", s)
}

func (l *lister) fields(prefix string, fields *ast.FieldList) {
	for _, f := range fields.List {
		kind := l.text(f.Type)
		if _, ok := f.Type.(*ast.FuncType); ok && strings.HasSuffix(prefix, "interface, ") {
			kind = strings.TrimPrefix(kind, "func")
		} else {
			kind = " " + kind
		}
		if name := nameOf(f.Type); len(f.Names) == 0 && (name == nil || name.IsExported()) {
			l.lines = append(l.lines, prefix+strings.TrimSpace(kind))
		}
		for _, name := range f.Names {
			if name.IsExported() {
				l.lines = append(l.lines, prefix+name.Name+kind)
			}
		}
	}
}

// values adds constants or variables, with the type that is written, or none. What a constant is, is not part of it.
func (l *lister) values(kind string, s *ast.ValueSpec) {
	for _, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		line := kind + " " + name.Name
		if s.Type != nil {
			line += " " + l.text(s.Type)
		}
		l.lines = append(l.lines, line)
	}
}

func (l *lister) add(prefix string, node any) { l.lines = append(l.lines, prefix+l.text(node)) }

// text returns a node in one line.
func (l *lister) text(node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, l.fset, node); err != nil {
		return fmt.Sprint(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
