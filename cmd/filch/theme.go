package main

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
)

// A paint is a colour that is another one on a dark ground. Drawings name it by the light one, so the
// light ones differ from one another.
type paint struct {
	name        string
	light, dark string
}

var (
	paper = paint{"paper", "#FFFFFF", "#0D1117"} // what all is drawn on
	ink   = paint{"ink", "#1F2328", "#E6EDF3"}   // text
	faint = paint{"faint", "#59636E", "#9AA4AF"} // text beside it
	ruled = paint{"grid", "#D8DEE4", "#2B323B"}
	band  = paint{"band", "#F4F6F8", "#151B23"}  // behind every second line
	harm  = paint{"loss", "#CF222E", "#FF6A62"}  // what says that something else is faster
	shade = paint{"shade", "#FCEBEA", "#2C1416"} // where the serial program is faster

	// Blue to green is filch, red to yellow are others.
	mine = []paint{
		{"m0", "#0550AE", "#58A6FF"},
		{"m1", "#0F7B6C", "#3FD0B6"},
		{"m2", "#6639BA", "#BC8CFF"},
		{"m3", "#1B7F37", "#56D364"},
		{"m4", "#3B5B92", "#9DB7E8"},
		{"m5", "#17718F", "#6CC7E6"},
	}
	others = []paint{
		{"o0", "#5C6670", "#AAB4BF"},
		{"o1", "#BC4C00", "#FFA657"},
		{"o2", "#A0286B", "#FF8CC6"},
		{"o3", "#7D5A00", "#E3B341"},
		{"o4", "#8A4B2A", "#D9A07C"},
		{"o5", "#6E6A1E", "#CFCB74"},
		{"o6", "#954A6E", "#E8A5C4"},
	}
)

// known are the executors, and the schedulers of the simulator, in the order of their looks: each looks the same in all charts.
var known = [][]string{
	{"filch", "filch-join", "filch-chain", "filch-call", "filch-async", "strand"},
	{"goroutine", "basic", "semaphore", "channel", "errgroup", "pond", "ants", "conc", "workerpool", "at-once"},
	{"child", "continuation", "half", "hierarchical", "localized", "mailbox", "sharing", "central", "pdf", "ordered", "abp", "bws"},
}

// lookAs returns the look of an executor or a scheduler: that of its name, or for an unknown one a look that no known one has, the n-th.
func lookAs(name string, ours bool, n int) look {
	most := 0
	for _, names := range known {
		if i := slices.Index(names, name); i >= 0 {
			return look{name, ours, i}
		}
		most = max(most, len(names))
	}
	if name == "pool" {
		return look{name, ours, 0}
	}
	return look{name, ours, most + n}
}

// palette returns all paints.
func palette() []paint {
	all := []paint{paper, ink, faint, ruled, band, harm, shade}
	return append(append(all, mine...), others...)
}

func (p paint) color() color.Color {
	var c color.NRGBA
	if n, err := fmt.Sscanf(p.light, "#%02X%02X%02X", &c.R, &c.G, &c.B); n != 3 {
		panic(fmt.Sprintf("filch: paint %s: %v", p.name, err))
	}
	c.A = 255
	return c
}

// css declares the paints as variables, which follow what the reader's system prefers.
func css() string {
	vars := func(of func(paint) string) string {
		var b strings.Builder
		for _, p := range palette() {
			fmt.Fprintf(&b, "--%s:%s;", p.name, strings.ToLower(of(p)))
		}
		return b.String()
	}
	return ":root{" + vars(func(p paint) string { return p.light }) + "}" +
		"@media screen and (prefers-color-scheme:dark){:root{" + vars(func(p paint) string { return p.dark }) + "}}"
}

// darkCSS declares the dark colours of what [plainly] has given a class.
func darkCSS() string {
	var b strings.Builder
	b.WriteString("@media screen and (prefers-color-scheme:dark){")
	for _, p := range palette() {
		dark := strings.ToLower(p.dark)
		fmt.Fprintf(&b, ".fill-%[1]s{fill:%[2]s}.stroke-%[1]s{stroke:%[2]s}", p.name, dark)
	}
	return b.String() + "}"
}
