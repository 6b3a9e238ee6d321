package flow

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph in the DOT language of Graphviz: nodes with their times in the run that ended last, and
// edges, with weak ones dashed and labelled by the index that chooses them. It marks failed nodes and the critical
// path, the path whose nodes took longest in all. It returns the error of [Graph.Validate], or else that of w. It
// panics if w is nil.
func (g *Graph) WriteDOT(w io.Writer) error {
	needs(w != nil, "WriteDOT", "w")
	v, err := g.picture()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph %s {\n", quoted(v.name))
	fmt.Fprintf(b, "\tlabel=%s; labelloc=t; fontname=\"sans-serif\";\n", label(v.title()))
	fmt.Fprintln(b, "\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];")
	for i, n := range v.nodes {
		text := n.name
		if n.note != "" {
			text += "\n" + n.note
		}
		fmt.Fprintf(b, "\tn%d [label=%s", i, label(text))
		switch {
		case n.isChoice:
			fmt.Fprint(b, ", shape=diamond, style=solid")
		case n.isSub:
			fmt.Fprint(b, ", shape=box3d, style=solid")
		}
		switch {
		case n.failed:
			fmt.Fprint(b, ", color=\"#cf222e\", fontcolor=\"#cf222e\", penwidth=2.5")
		case n.critical:
			fmt.Fprint(b, ", color=\"#c2410c\", penwidth=2.5")
		case v.ran && n.took == 0:
			fmt.Fprint(b, ", color=gray, fontcolor=gray")
		}
		fmt.Fprintln(b, "];")
	}
	for _, e := range v.edges {
		var with []string
		if e.weak {
			with = append(with, "style=dashed", "label="+label(e.label))
		}
		if e.back {
			with = append(with, "constraint=false")
		}
		if e.critical {
			with = append(with, "color=\"#c2410c\"", "penwidth=2.5")
		}
		fmt.Fprintf(b, "\tn%d -> n%d", e.from, e.to)
		if len(with) > 0 {
			fmt.Fprintf(b, " [%s]", strings.Join(with, ", "))
		}
		fmt.Fprintln(b, ";")
	}
	fmt.Fprintln(b, "}")
	return b.Flush()
}

// label returns s as a label, in which Graphviz expands HTML entities and requires UTF-8.
func label(s string) string {
	return quoted(strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "&", "&amp;"))
}

// quoted returns s as a DOT string.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "", "\x00", "").Replace(s) + `"`
}
