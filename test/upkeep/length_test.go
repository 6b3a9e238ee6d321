package upkeep

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longer says why a doc comment has more than 25 lines: by folder and name.
var longer = map[string]string{}

// The doc comment of an exported function, method or type fits a screen: 25 lines.
func TestDocCommentsFitAScreen(t *testing.T) {
	atRoot(t)
	found := 0
	for dir, pkg := range packages(t) {
		if strings.HasPrefix(dir, "internal/") || strings.HasPrefix(dir, "examples/") {
			continue
		}
		for _, name := range pkg.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(filepath.FromSlash(dir), name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal("parser.ParseFile(…):", err)
			}
			for _, d := range f.Decls {
				name, doc := documented(d)
				if doc == nil || !ast.IsExported(name) {
					continue
				}
				lines := fset.Position(doc.End()).Line - fset.Position(doc.Pos()).Line + 1
				if found++; lines > 25 && longer[dir+"."+name] == "" {
					t.Errorf("%s: the doc comment of %s has %d lines", fset.Position(doc.Pos()), name, lines)
				}
			}
		}
	}
	if found < 400 {
		t.Errorf("only %d doc comments were looked at", found)
	}
}

// documented returns the name that d declares, and its doc comment, if it is a function or one type.
func documented(d ast.Decl) (name string, doc *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if s, ok := d.Specs[0].(*ast.TypeSpec); ok && len(d.Specs) == 1 {
			return s.Name.Name, d.Doc
		}
	}
	return "", nil
}

// DESIGN.md is a map: what was tried, and how one package works, stands beside the code.
func TestDesignIsAMap(t *testing.T) {
	atRoot(t)
	b, err := os.ReadFile("DESIGN.md")
	if n := strings.Count(string(b), "\n"); err != nil || n > 700 {
		t.Errorf("DESIGN.md has %d lines, and may have 700: %v", n, err)
	}
}

// README.md is a first contact: it has at most 180 lines, of code in at most 100 columns, so that no line of it is cut at 1,280 pixels.
func TestReadmeIsShort(t *testing.T) {
	atRoot(t)
	lines := strings.Split(read(t, "README.md"), "\n")
	if n := len(lines) - 1; n > 180 {
		t.Errorf("README.md has %d lines, more than 180", n)
	}
	inCode := false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if inCode && len([]rune(line)) > 100 {
			t.Errorf("README.md:%d: a line of code with more than 100 characters", i+1)
		}
	}
}
