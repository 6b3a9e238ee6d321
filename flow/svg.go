package flow

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteSVG draws the graph as SVG: nodes in rows, each below those that must run before it, with their times in the run
// that ended last. It marks failed nodes and the critical path, the path whose nodes took longest in all. Weak edges
// are dashed, with the index that chooses them. A [Choice] has pointed ends, a [Sub] a double frame. The title states
// the sum of all times, that of the critical path, and how many workers the graph could use, the quotient of the two.
// Long names are cut; hovering shows the whole name. Colours follow the viewer's choice of light or dark.
//
// In graphs of more than 60 nodes, nodes are smaller and names shorter; in those of more than 250, the times are left out.
// A graph of 1,000 nodes takes some tens of milliseconds. WriteSVG returns the error of [Graph.Validate], or else that
// of w. It panics if w is nil.
func (g *Graph) WriteSVG(w io.Writer) error {
	needs(w != nil, "WriteSVG", "w")
	v, err := g.picture()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	v.draw(b)
	return b.Flush()
}

const style = `<style>
text { font-family: system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
.title { font-size: 14px; text-anchor: start; font-weight: 600; }
.note { fill: #59636e; }
.label { fill: #59636e; text-anchor: start; }
.back { fill: #ffffff; }
.node { fill: #f6f8fa; stroke: #818b98; }
.frame { fill: none; stroke: #818b98; }
.edge { fill: none; stroke: #818b98; }
.fine .edge { stroke-width: 0.6; }
.head { fill: #818b98; }
.node.hot, .frame.hot { fill: #fff1e5; stroke: #c2410c; stroke-width: 2; }
.frame.hot { fill: none; }
.edge.hot, .fine .edge.hot { stroke: #c2410c; stroke-width: 2; }
.head.hot { fill: #c2410c; }
.node.failed, .frame.failed { fill: #ffebe9; stroke: #cf222e; stroke-width: 2; }
.frame.failed { fill: none; }
text.failed { fill: #cf222e; }
.off { opacity: 0.45; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.note, .label { fill: #9198a1; }
.back { fill: #0d1117; }
.node { fill: #161b22; stroke: #6e7681; }
.frame, .edge { stroke: #6e7681; }
.head { fill: #6e7681; }
.node.hot { fill: #3d1d0a; stroke: #fb923c; }
.frame.hot, .edge.hot { stroke: #fb923c; }
.head.hot { fill: #fb923c; }
.node.failed { fill: #3c1618; stroke: #f85149; }
.frame.failed { stroke: #f85149; }
text.failed { fill: #ff7b72; }
}
</style>
`

const margin, top = 24, 52

func (v *picture) draw(b *bufio.Writer) {
	l := v.layout()
	side := 0.0 // for edges that lead back
	for _, e := range v.edges {
		if e.back {
			side = 60
		}
	}
	width, height := max(l.width+side+2*margin, 9*float64(len(v.title()))), l.height+top+margin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(b, "<title>%s</title>\n%s", escaped(v.title()), style)
	fmt.Fprintf(b, `<rect class="back" width="100%%" height="100%%"/>`+"\n")
	fmt.Fprintf(b, `<text class="title" x="%d" y="30">%s</text>`+"\n", margin, escaped(v.title()))
	class := ""
	if !l.size.notes {
		class = ` class="fine"`
	}
	fmt.Fprintf(b, `<g%s transform="translate(%.1f %d)">`+"\n", class, (width-side-l.width)/2, top)
	for _, hot := range []bool{false, true} { // to draw the critical path on top
		for k, e := range v.edges {
			if e.critical == hot {
				v.drawEdge(b, l, k)
			}
		}
	}
	for i := range v.nodes {
		v.drawNode(b, l, i)
	}
	fmt.Fprint(b, "</g>\n</svg>\n")
}

func (v *picture) drawNode(b *bufio.Writer, l *layout, i int) {
	n, s := &v.nodes[i], l.size
	x, y := l.x[i]-s.w/2, l.y(i)
	class := ""
	switch {
	case n.failed:
		class = " failed"
	case n.critical:
		class = " hot"
	case v.ran && n.took == 0:
		class = " off"
	}
	text := n.name
	if n.note != "" {
		text += "\n" + n.note
	}
	fmt.Fprintf(b, `<g><title>%s</title>`, escaped(text))
	if n.isChoice {
		d := s.h / 3
		fmt.Fprintf(b, `<path class="node%s" d="M%.1f %.1fh%.1fl%.1f %.1fl%.1f %.1fh%.1fl%.1f %.1fz"/>`, class,
			x+d, y, s.w-2*d, d, s.h/2, -d, s.h/2, -(s.w - 2*d), -d, -s.h/2)
	} else {
		fmt.Fprintf(b, `<rect class="node%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, class, x, y, s.w, s.h, s.h/7)
	}
	if n.isSub {
		fmt.Fprintf(b, `<rect class="frame%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, class, x+3, y+3, s.w-6, s.h-6, s.h/10)
	}
	middle := y + s.h/2 + s.font*0.35
	if s.notes && n.note != "" {
		fmt.Fprintf(b, `<text class="note%s" x="%.1f" y="%.1f" font-size="%.1f">%s</text>`, class, l.x[i], y+s.h*0.82, s.font*0.85, escaped(n.note))
		middle = y + s.h*0.43
	}
	fmt.Fprintf(b, `<text class="name%s" x="%.1f" y="%.1f" font-size="%.1f">%s</text></g>`+"\n", class, l.x[i], middle, s.font, escaped(shortened(n.name, s.letters)))
}

func (v *picture) drawEdge(b *bufio.Writer, l *layout, k int) {
	e, s := v.edges[k], l.size
	class, dashed := "", ""
	if e.critical {
		class = " hot"
	}
	if e.weak {
		dashed = ` stroke-dasharray="5 4"`
	}
	var d strings.Builder
	head := s.font / 2
	if e.back {
		v.drawBack(b, l, e, class, dashed)
		return
	}
	path := l.path[k]
	x, y := l.x[path[0]], l.y(path[0])+s.h
	fmt.Fprintf(&d, "M%.1f %.1f", x, y)
	for at, p := range path[1:] {
		toX, toY := l.x[p], l.y(p)
		last := at == len(path)-2
		if last {
			toY -= head
		}
		bend := min((toY-y)/2, s.gapY)
		fmt.Fprintf(&d, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, y+bend, toX, toY-bend, toX, toY)
		if x, y = toX, toY; !last {
			y += s.h
			fmt.Fprintf(&d, "V%.1f", y)
		}
	}
	fmt.Fprintf(b, `<path class="edge%s" d="%s"%s/>`, class, d.String(), dashed)
	fmt.Fprintf(b, `<path class="head%s" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`+"\n", class, x, y+head, -head/2, -head, head)
	if e.weak {
		from, to := path[0], path[1] // the label is beside the end of the edge, on the side away from its source
		aside, anchor := 5.0, "start"
		if l.x[to] < l.x[from] {
			aside, anchor = -5, "end"
		}
		fmt.Fprintf(b, `<text class="label" style="text-anchor: %s" x="%.1f" y="%.1f" font-size="%.1f">%s</text>`+"\n",
			anchor, l.x[to]+aside, l.y(to)-s.font*0.6, s.font*0.85, escaped(e.label))
	}
}

// drawBack draws an edge that leads back, or to its own node, on the right of both.
func (v *picture) drawBack(b *bufio.Writer, l *layout, e edge, class, dashed string) {
	s := l.size
	x, y := l.x[e.from]+s.w/2, l.y(int(e.from))+s.h*0.6
	toX, toY := l.x[e.to]+s.w/2, l.y(int(e.to))+s.h*0.4
	head := s.font / 2
	out := 0.0 // to the right of all rows between
	for r := min(l.row[e.from], l.row[e.to]); r <= max(l.row[e.from], l.row[e.to]); r++ {
		last := l.rows[r][len(l.rows[r])-1]
		out = max(out, l.x[last]+l.half(last)+s.gapX)
	}
	dx := s.gapX
	fmt.Fprintf(b, `<path class="edge%s" d="M%.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1f"%s/>`, class,
		x, y, out-dx/2, out, y, out, y-dx/2, toY+dx/2, out, toY, out-dx/2, toY, toX+head, dashed)
	fmt.Fprintf(b, `<path class="head%s" d="M%.1f %.1fl%.1f %.1fv%.1fz"/>`+"\n", class, toX, toY, head, -head/2, head)
	fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f" font-size="%.1f">%s</text>`+"\n", x+5, y-4, s.font*0.85, escaped(e.label))
}

// shortened returns s cut to at most n letters.
func shortened(s string, n int) string {
	letters := []rune(s)
	if len(letters) <= n {
		return s
	}
	return string(letters[:n-1]) + "…"
}

// escaped returns s as XML text.
func escaped(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
