package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// equivalents.txt lists mutants that no test can tell from the original, or none should: such
// as change a figure of tuning, or what is done twice for the sake of speed. Entries are
// apart by empty lines. The first line of one is the file, a colon, and the function; then come
// the lines that change, after "- ", and what becomes of them, after "+ "; the rest is the
// reason. An entry without "+" lines is for all that makes a number in these lines one more
// or one less, and one with "+ ..." for whatever is done to them.
//
//go:embed equivalents.txt
var list string

type equivalent struct {
	file, function string
	before, after  string
	numbers        bool // all that change a number there
	any            bool // all that change anything
	reason         string
}

func equivalents(list string) (es []*equivalent, err error) {
	for i, entry := range strings.Split(strings.ReplaceAll(list, "\r", ""), "\n\n") {
		var before, after, reason []string
		e := &equivalent{}
		for j, line := range strings.Split(strings.TrimSpace(entry), "\n") {
			switch {
			case strings.HasPrefix(line, "#"), line == "":
			case e.file == "":
				var ok bool
				if e.file, e.function, ok = strings.Cut(line, ": "); !ok {
					return nil, fmt.Errorf("entry %d, line %d: want file: function", i+1, j+1)
				}
			case strings.HasPrefix(line, "- "):
				before = append(before, line[2:])
			case strings.HasPrefix(line, "+"):
				after = append(after, strings.TrimSpace(line[1:]))
			default:
				reason = append(reason, line)
			}
		}
		if e.file == "" {
			continue
		}
		if len(before) == 0 || len(reason) == 0 {
			return nil, fmt.Errorf("entry %d, of %s: it needs a line that changes, and a reason", i+1, e.file)
		}
		e.before, e.after = strings.Join(before, "\n"), strings.Join(after, "\n")
		e.numbers, e.any = after == nil, e.after == "..."
		e.reason = strings.Join(reason, " ")
		es = append(es, e)
	}
	return es, nil
}

// find returns the entry for m, or nil.
func find(es []*equivalent, m mutant) *equivalent {
	for _, e := range es {
		in := e.function
		if in == "top" {
			in = ""
		}
		if e.file != m.file || in != m.function || e.before != m.before {
			continue
		}
		if e.any || e.numbers && m.number || !e.numbers && e.after == m.after {
			return e
		}
	}
	return nil
}
