package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"duration": duration, "ratio": ratio, "digits": digits, "perFork": perFork, "spread": spread, "count": count,
	"megabytes": megabytes, "took": durationOf, "program": programName,
}).Parse(pageText))

// page is the report as one HTML file that needs nothing else.
func page(r report, cs []*chart) ([]byte, error) {
	type drawn struct {
		*chart
		Name, Title  string
		InNav        string
		Wide, Narrow template.HTML
	}
	type used struct{ Name, Version string }
	data := struct {
		report
		Styles template.CSS
		Build  string
		Runs   string
		Used   []used
		Charts []drawn
		Losses []loss
		Wrong  []*row
	}{report: r, Styles: template.CSS(css()), Build: r.Machine.build(), Runs: runsText(runsOf(r.Rows)), Losses: losses(r.Rows)}
	for _, name := range slices.Sorted(maps.Keys(r.Machine.Versions)) {
		data.Used = append(data.Used, used{name, r.Machine.Versions[name]})
	}
	for _, c := range cs {
		nav := c.title // the first of several stands for all
		if c.part > 0 {
			nav, _, _ = strings.Cut(nav, ", 1 of ")
		}
		if c.part > 1 {
			nav = ""
		}
		data.Charts = append(data.Charts, drawn{c, c.name, c.title, nav, template.HTML(c.svg(wide, inPage)), template.HTML(c.svg(narrow, inPage))})
	}
	slices.SortStableFunc(data.Losses, func(a, b loss) int { return cmp.Compare(b.times, a.times) })
	for _, x := range r.Rows {
		if x.Runs > 0 && !x.OK {
			data.Wrong = append(data.Wrong, x)
		}
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, data)
	return b.Bytes(), err
}

// What the page calls.

// Ours reports whether the row is filch's.
func (r *row) Ours() bool { return ours(r) }

// Reason says why there is no figure.
func (r *row) Reason() string { return r.reason() }

// Row is what lost, To what it lost to, and Times how many times as fast that was.
func (l loss) Row() *row { return l.row }

// To is what the row lost to.
func (l loss) To() *row { return l.to }

// Times is how many times as fast that was.
func (l loss) Times() string { return digits(l.times) }

// Runs says whether that is more than the spread of the runs.
func (l loss) Runs() string {
	if l.apart {
		return "all runs slower"
	}
	return "runs overlap"
}

// Met reports whether the goal was met.
func (b bar) Met() bool { return b.met() }

// Goals says what was asked for.
func (b bar) Goals() string {
	s := "at least "
	if b.Most {
		s = "at most "
	}
	return strings.TrimSpace(s + fmt.Sprintf("%.3g ", b.Goal) + b.Unit)
}

// Measured says what was measured.
func (b bar) Measured() string { return strings.TrimSpace(fmt.Sprintf("%.3g ", b.Got) + b.Unit) }
