package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A mutant is a source file with one small change.
type mutant struct {
	file     string // its path, from the module's root
	line     int
	function string // "(*T).name" or "name"; "" outside of functions
	number   bool   // the change is one more or one less in a number
	before   string // the lines that change, without indentation,
	after    string // and what becomes of them
	source   []byte // of the file, changed
}

func (m mutant) String() string {
	in := m.function
	if in == "" {
		in = "top"
	}
	return fmt.Sprintf("%s:%d\t%s\t%s  =>  %s", m.file, m.line, in, oneLine(m.before), oneLine(m.after))
}

func oneLine(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return strings.ReplaceAll(s, "\n", " ⏎ ")
}

// mutants returns all mutants of a file.
func mutants(file string, source []byte) ([]mutant, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	v := &visitor{file: file, source: source, set: set}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			v.function = nameOf(fn)
			v.early(fn)
		} else {
			v.function = ""
		}
		ast.Inspect(d, v.visit)
	}
	return v.found, nil
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t, star := fn.Recv.List[0].Type, ""
	if s, ok := t.(*ast.StarExpr); ok {
		t, star = s.X, "*"
	}
	switch x := t.(type) { // without type parameters
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return fmt.Sprintf("(%s%s).%s", star, t, fn.Name.Name)
}

type visitor struct {
	file     string
	source   []byte
	set      *token.FileSet
	function string
	found    []mutant
}

// opposite is what an operator becomes.
var opposite = map[token.Token]string{
	token.LAND: "||", token.LOR: "&&",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.AND: "|", token.OR: "&",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=",
	token.INC: "--", token.DEC: "++",
}

func (v *visitor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		v.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			v.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		v.operator(n.OpPos, n.Op)
	case *ast.IncDecStmt:
		v.operator(n.TokPos, n.Tok)
		v.replace(n, "")
	case *ast.AssignStmt:
		v.operator(n.TokPos, n.Tok)
		if n.Tok != token.DEFINE {
			v.replace(n, "")
		}
	case *ast.ExprStmt:
		if !isCallOf(n.X, "panic") {
			v.replace(n, "")
		}
	case *ast.SendStmt, *ast.GoStmt:
		v.replace(n, "")
	case *ast.DeferStmt:
		v.replace(n, "")
	case *ast.BasicLit:
		if n.Kind == token.INT {
			v.number(n)
		}
	case *ast.Ident:
		v.name(n)
	case *ast.BlockStmt:
		v.swap(n.List)
	}
	return true
}

func isCallOf(x ast.Expr, name string) bool {
	c, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == name
}

func (v *visitor) negate(x ast.Expr) {
	if b, ok := x.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return // the operator's opposite is the same
	}
	v.replace(x, "!("+v.text(x.Pos(), x.End())+")")
}

func (v *visitor) operator(at token.Pos, op token.Token) {
	if to, ok := opposite[op]; ok {
		v.change(at, at+token.Pos(len(op.String())), to)
	}
}

func (v *visitor) number(n *ast.BasicLit) {
	i, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil {
		return
	}
	for _, to := range []int64{i - 1, i + 1} {
		v.replace(n, fmt.Sprint(to))
		v.found[len(v.found)-1].number = true
	}
}

// name swaps true with false and min with max.
func (v *visitor) name(id *ast.Ident) {
	if to := map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}[id.Name]; to != "" {
		v.replace(id, to)
	}
}

// early makes a function return at once, with zero values.
func (v *visitor) early(fn *ast.FuncDecl) {
	if fn.Body == nil || len(fn.Body.List) == 0 {
		return
	}
	var values []string
	if r := fn.Type.Results; r != nil {
		for _, f := range r.List {
			if len(f.Names) > 0 {
				values = nil
				break
			}
			values = append(values, "*new("+v.text(f.Type.Pos(), f.Type.End())+")")
		}
		if len(values) == 1 && len(fn.Body.List) == 1 {
			if s, ok := fn.Body.List[0].(*ast.ReturnStmt); ok && len(s.Results) == 1 && isZero(s.Results[0]) {
				return
			}
		}
	}
	at := fn.Body.List[0].Pos()
	v.change(at, at, "return "+strings.Join(values, ", ")+"; ")
}

func isZero(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "false"
	case *ast.BasicLit:
		return x.Value == "0" || x.Value == `""`
	case *ast.CompositeLit: // not of a slice or map
		_, named := x.Type.(*ast.Ident)
		return named && len(x.Elts) == 0
	}
	return false
}

// swap swaps the bodies of neighbouring cases. (To swap those of an if and its else is
// to negate the condition.)
func (v *visitor) swap(list []ast.Stmt) {
	for i := 1; i < len(list); i++ {
		a, ok := list[i-1].(*ast.CaseClause)
		b, ok2 := list[i].(*ast.CaseClause)
		if !ok || !ok2 {
			return
		}
		first, second := v.text(a.Colon+1, a.End()), v.text(b.Colon+1, b.End())
		if strings.TrimSpace(first) == strings.TrimSpace(second) {
			continue
		}
		between := v.text(a.End(), b.Colon+1)
		v.change(a.Colon+1, b.End(), second+between+first)
	}
}

func (v *visitor) text(from, to token.Pos) string {
	return string(v.source[v.offset(from):v.offset(to)])
}

func (v *visitor) offset(p token.Pos) int { return v.set.Position(p).Offset }

func (v *visitor) replace(n ast.Node, by string) { v.change(n.Pos(), n.End(), by) }

// change adds the mutant that has by in place of what is between from and to.
func (v *visitor) change(from, to token.Pos, by string) {
	lo, hi := v.offset(from), v.offset(to)
	changed := string(v.source[:lo]) + by + string(v.source[hi:])
	begin := strings.LastIndexByte(string(v.source[:lo]), '\n') + 1
	end := hi + strings.IndexByte(string(v.source[hi:])+"\n", '\n')
	v.found = append(v.found, mutant{
		file: v.file, line: v.set.Position(from).Line, function: v.function,
		before: unindented(string(v.source[begin:end])),
		after:  unindented(changed[begin : end+len(by)-(hi-lo)]),
		source: []byte(changed),
	})
}

// unindented removes the white space around each line, and comments behind it.
func unindented(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
