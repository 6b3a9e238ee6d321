package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// All breaks are compiled into one binary, since to compile takes far longer than to run a few tests. A
// function that is broken gets a copy for each break, a twin, and calls that if it is told to:
//
//	func (t *T) f(n int) int { if breakNow == "7" { return t.fBreak7(n) }; ...
//
//	func (t *T) fBreak7(n int) int { ...

// breakEnv says which break a binary is to have.
const breakEnv = "FILCH_BREAK"

// breakNow returns a file for the package of source, in which the variable of that name has the break.
func breakNow(source []byte) []byte {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly)
	if err != nil {
		return nil // the compiler tells
	}
	return fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar breakNow = os.Getenv(%q)\n", f.Name.Name, breakEnv)
}

// replaced returns a source file after the change that e is, which must be possible in one place of its function.
func replaced(source string, e *equivalent) (line int, changed []byte, err error) {
	set, fns, err := functions([]byte(source))
	if err != nil {
		return 0, nil, err
	}
	found, lines := 0, slices.Collect(strings.Lines(source))
	for _, fn := range fns[e.function] {
		for at, end := set.Position(fn.Pos()).Line-1, set.Position(fn.End()).Line; at < end; at++ {
			if n := fits(lines[at:end], strings.Split(e.before, "\n")); n > 0 {
				found, line = found+1, at+1
				changed = []byte(strings.Join(lines[:at], "") + e.after + "\n" + strings.Join(lines[at+n:], ""))
			}
		}
	}
	if found != 1 {
		err = fmt.Errorf("breaks.txt: %s: %s has %d times, not once: %s", e.file, e.function, found, oneLine(e.before))
	}
	return line, changed, err
}

// fits returns how many of lines are want, but for indentation, comments and empty lines between; or 0.
func fits(lines, want []string) int {
	for i, line := range lines {
		switch s := unindented(line); {
		case s == want[0]:
			if want = want[1:]; len(want) == 0 {
				return i + 1
			}
		case s != "" || i == 0:
			return 0
		}
	}
	return 0
}

// functions returns the functions of a file, by name; several may have that of init.
func functions(source []byte) (*token.FileSet, map[string][]*ast.FuncDecl, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	all := map[string][]*ast.FuncDecl{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			all[nameOf(fn)] = append(all[nameOf(fn)], fn)
		}
	}
	return set, all, nil
}

// A piece is text to put into a file, in place of what is between two offsets.
type piece struct {
	from, to int
	text     string
}

// withBreaks returns a source file with all of bs, which are of that file.
func withBreaks(source []byte, bs []brk) ([]byte, error) {
	set, fns, err := functions(source)
	if err != nil {
		return nil, err
	}
	byFunction := map[string][]brk{}
	for _, b := range bs {
		byFunction[b.function] = append(byFunction[b.function], b)
	}
	var pieces []piece
	twins := ""
	for name, bs := range byFunction {
		fn := fns[name][0]
		args, named := arguments(set, fn)
		calls := ""
		for _, b := range bs {
			twin, err := twinOf(b)
			if err != nil {
				return nil, err
			}
			twins += "\n" + twin + "\n"
			calls += fmt.Sprintf(" if breakNow == %q { %s };", b.id, callOfTwin(fn, b.id, args))
		}
		body := set.Position(fn.Body.Lbrace).Offset + 1
		pieces = append(append(pieces, named...), piece{body, body, calls})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(b.from, a.from) })
	text := string(source)
	for _, p := range pieces {
		text = text[:p.from] + p.text + text[p.to:]
	}
	return []byte(text + twins), nil
}

// arguments returns the receiver and the parameters of a function, as arguments of a call, and what gives
// a name to those that have none.
func arguments(set *token.FileSet, fn *ast.FuncDecl) (args []string, named []piece) {
	fields := fn.Type.Params.List
	if fn.Recv != nil {
		fields = slices.Concat(fn.Recv.List, fields)
	}
	for _, f := range fields {
		dots := ""
		if _, ok := f.Type.(*ast.Ellipsis); ok {
			dots = "..."
		}
		if len(f.Names) == 0 {
			name, at := fmt.Sprint("arg", len(args)), set.Position(f.Pos()).Offset
			named = append(named, piece{at, at, name + " "})
			args = append(args, name+dots)
		}
		for _, n := range f.Names {
			name := n.Name
			if name == "_" {
				name = fmt.Sprint("arg", len(args))
				named = append(named, piece{set.Position(n.Pos()).Offset, set.Position(n.End()).Offset, name})
			}
			args = append(args, name+dots)
		}
	}
	return args, named
}

// callOfTwin returns the statements by which a function calls its twin, and returns.
func callOfTwin(fn *ast.FuncDecl, id string, args []string) string {
	call := fn.Name.Name + "Break" + id
	if fn.Recv != nil {
		call, args = args[0]+"."+call, args[1:]
	}
	if t := fn.Type.TypeParams; t != nil {
		var names []string
		for _, f := range t.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		call += "[" + strings.Join(names, ", ") + "]"
	}
	call += "(" + strings.Join(args, ", ") + ")"
	if fn.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

// twinOf returns the function of b, changed, under a name of its own.
func twinOf(b brk) (string, error) {
	set, fns, err := functions(b.source)
	if err != nil {
		return "", fmt.Errorf("%v: %w", b.mutant, err)
	}
	fn := fns[b.function][0]
	at := func(p token.Pos) int { return set.Position(p).Offset }
	s := string(b.source)
	return s[at(fn.Pos()):at(fn.Name.End())] + "Break" + b.id + s[at(fn.Name.End()):at(fn.End())], nil
}
