package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"

	weight "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Widths of drawings, in pixels.
const (
	wide   vg.Length = 760
	narrow vg.Length = 372 // for a phone, so that nothing is made smaller there
)

// Where a drawing is.
type place int

const (
	standing place = iota // a file of its own, which brings its colours along
	inPage                // in a page that declares them
)

const (
	margin    vg.Length = 14
	small     vg.Length = 11
	plain     vg.Length = 12
	heading   vg.Length = 15
	lineSpace           = 1.35
	leastHigh vg.Length = 200 // the lines of a plot together
)

// svg draws the chart so wide, and as high as it takes.
func (c *chart) svg(width vg.Length, at place) []byte {
	d := &drawing{chart: c, width: width}
	d.layOut()
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, d.height))
	d.canvas = draw.NewCanvas(canvas, width, d.height)
	d.paint()
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		panic(fmt.Sprintf("filch: a drawing in memory: %v", err)) // a bytes.Buffer takes all
	}
	return d.finish(b.String(), at)
}

// A drawing is a chart in one width: blocks from the top down.
type drawing struct {
	*chart
	width, height vg.Length
	canvas        draw.Canvas

	title, gist, about, foot []string        // in lines
	legend                   [][]legendEntry // in lines
	body                     vg.Length       // the height of the plot, or the panels
}

type legendEntry struct {
	look  int
	text  string
	width vg.Length
}

// What is in the legend and is no executor.
const (
	lossEntry = -1
	noneEntry = -2
)

// styleOf returns text of a size and a paint.
func styleOf(size vg.Length, p paint, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = weight.WeightBold
	}
	return text.Style{Color: p.color(), Font: f, Handler: plot.DefaultTextHandler}
}

// wrap breaks s between words.
func wrap(s string, st text.Style, width vg.Length) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && st.Width(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// cut shortens s to a width.
func cut(s string, st text.Style, width vg.Length) string {
	if st.Width(s) <= width {
		return s
	}
	rs := []rune(s)
	for len(rs) > 1 && st.Width(string(rs)+"…") > width {
		rs = rs[:len(rs)-1]
	}
	return strings.TrimSpace(string(rs)) + "…"
}

// tall returns how high lines of text are.
func tall(lines []string, size vg.Length) vg.Length { return vg.Length(len(lines)) * size * lineSpace }

// layOut decides how high each block is.
func (d *drawing) layOut() {
	inner := d.width - 2*margin
	d.title = wrap(d.chart.title, styleOf(heading, ink, true), inner)
	d.gist = wrap(d.takeaway(), styleOf(plain, ink, false), inner)
	d.about = wrap(d.chart.about, styleOf(plain, faint, false), inner)
	for _, s := range d.sources {
		d.foot = append(d.foot, wrap(s, styleOf(small, faint, false), inner)...)
	}
	d.layOutLegend(inner)
	if len(d.panels) > 0 {
		d.body = vg.Length(d.panelRows()) * d.panelHeight()
		d.body += vg.Length(len(wrap(d.axis, styleOf(small, faint, false), inner))) * small * lineSpace
	} else {
		d.body = 2*lineSpace*small + 8
		for _, l := range d.lines {
			d.body += d.lineHeight(l)
		}
		if d.parted || d.hasValues() {
			d.body += small * lineSpace // the heads of the two sides
		}
	}
	d.height = 2*margin + tall(d.title, heading) + tall(d.gist, plain) + tall(d.about, plain) + tall(d.foot, small) + d.body +
		vg.Length(len(d.legend))*plain*1.6 + 3*6
}

func (d *drawing) layOutLegend(inner vg.Length) {
	st := styleOf(plain, ink, false)
	var entries []legendEntry
	for i, l := range d.looks {
		entries = append(entries, legendEntry{look: i, text: l.name})
	}
	some := func(is func(line) bool) bool {
		for _, l := range d.lines {
			if is(l) {
				return true
			}
		}
		return false
	}
	if some(func(l line) bool {
		for _, p := range l.points {
			if p.lost {
				return true
			}
		}
		return false
	}) {
		entries = append(entries, legendEntry{look: lossEntry, text: "ringed: something else is faster in every run"})
	}
	if some(func(l line) bool { return len(l.none) > 0 }) {
		entries = append(entries, legendEntry{look: noneEntry, text: "at “none”: it deadlocks, or did not run"})
	}
	x := vg.Length(0)
	for _, e := range entries {
		e.width = 16 + st.Width(e.text) + 14
		if len(d.legend) == 0 || x+e.width-14 > inner {
			d.legend = append(d.legend, nil)
			x = 0
		}
		x += e.width
		d.legend[len(d.legend)-1] = append(d.legend[len(d.legend)-1], e)
	}
}

// step is how far points of one line are below one another.
func (d *drawing) step() vg.Length {
	if d.apart {
		return 8
	}
	return 3
}

func (d *drawing) lineHeight(l line) vg.Length {
	return max(20, leastHigh/vg.Length(len(d.lines)), vg.Length(max(len(l.points)+len(l.none), 1))*d.step()+8)
}

// paint draws the blocks.
func (d *drawing) paint() {
	c := d.canvas
	y := c.Max.Y - margin
	lines := func(all []string, st text.Style) {
		for _, s := range all {
			y -= st.Font.Size * lineSpace
			c.FillText(st, vg.Point{X: margin, Y: y + st.Font.Size*0.25}, s)
		}
	}
	lines(d.title, styleOf(heading, ink, true))
	lines(d.gist, styleOf(plain, ink, false))
	lines(d.about, styleOf(plain, faint, false))
	y -= 6
	for _, entries := range d.legend {
		y -= plain * 1.6
		d.paintLegend(entries, y+plain*0.7)
	}
	y -= 6
	body := draw.Crop(c, margin, -margin, y-d.body-c.Min.Y, y-c.Max.Y)
	if len(d.panels) > 0 {
		d.paintPanels(body)
	} else {
		d.paintLines(body)
	}
	y -= d.body + 6
	lines(d.foot, styleOf(small, faint, false))
}

func (d *drawing) paintLegend(entries []legendEntry, y vg.Length) {
	x := margin
	st := styleOf(plain, ink, false)
	st.YAlign = text.YCenter
	for _, e := range entries {
		at := vg.Point{X: x + 6, Y: y}
		switch e.look {
		case lossEntry:
			d.ring(at)
		case noneEntry:
			d.canvas.StrokeLine2(draw.LineStyle{Color: faint.color(), Width: 1}, x+1, y, x+11, y)
		default:
			d.glyph(d.looks[e.look], at, 3.6)
		}
		d.canvas.FillText(st, vg.Point{X: x + 16, Y: y + 2}, e.text)
		x += e.width
	}
}

// paint returns the colour of an executor. The next one that has the same shape has another.
func (l look) paint() paint {
	if l.ours {
		return mine[l.index%len(mine)]
	}
	return others[(l.index+l.index/shapes)%len(others)]
}

// glyph draws the mark of an executor.
func (d *drawing) glyph(l look, at vg.Point, r vg.Length) {
	path := shapeOf(l.index, at, r)
	d.canvas.SetLineStyle(draw.LineStyle{Width: 1.3})
	if l.ours {
		d.canvas.SetColor(l.paint().color())
	} else {
		d.canvas.SetColor(paper.color()) // lines do not show through
	}
	d.canvas.Fill(path)
	d.canvas.SetColor(l.paint().color())
	d.canvas.Stroke(path)
}

// ring marks what something else is faster than.
func (d *drawing) ring(at vg.Point) {
	d.canvas.SetLineStyle(draw.LineStyle{Color: harm.color(), Width: 1.3})
	d.canvas.Stroke(shapeOf(0, at, 6.3))
}

const shapes = 7

// shapeOf returns the shape with a number: a circle, a square, and so on.
func shapeOf(index int, at vg.Point, r vg.Length) (p vg.Path) {
	// A shape is corners on a circle, from an angle in turns on.
	s := [shapes]struct {
		corners int
		from    float64
		size    vg.Length
	}{{0, 0, 1}, {4, 0.125, 1.2}, {3, 0.25, 1.3}, {4, 0, 1.25}, {3, 0.75, 1.3}, {6, 0, 1.1}, {5, 0.25, 1.15}}[index%shapes]
	if s.corners == 0 {
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		return p
	}
	for i := range s.corners {
		angle := 2 * math.Pi * (s.from + float64(i)/float64(s.corners))
		to := vg.Point{X: at.X + r*s.size*vg.Length(math.Cos(angle)), Y: at.Y + r*s.size*vg.Length(math.Sin(angle))}
		if i == 0 {
			p.Move(to)
		} else {
			p.Line(to)
		}
	}
	p.Close()
	return p
}

var (
	styles  = regexp.MustCompile(`style="[^"]*"`) // no text has a quotation mark: it is escaped
	fonts   = regexp.MustCompile(`font-family:[^;]*;font-variant:[^;]*;font-weight:([^;]*);font-style:normal;`)
	colours = regexp.MustCompile(`#[0-9A-F]{6}`)
)

// finish takes the drawing out of its file and puts it into one that has a title, and no size that is fixed. In a page its colours
// are the page's variables. A standing one has a ground to be read on, and its light colours as plain attributes, for programs that know
// no variables; classes set the dark ones.
func (d *drawing) finish(s string, at place) []byte {
	_, s, _ = strings.Cut(s, "<svg")
	_, s, _ = strings.Cut(s, ">")
	names := map[string]string{}
	for _, p := range palette() {
		names[p.light] = p.name
	}
	s = styles.ReplaceAllStringFunc(s, func(style string) string {
		style = fonts.ReplaceAllString(style, "font-weight:$1;")
		style = strings.ReplaceAll(style, "font-weight:normal;", "")
		if at == inPage {
			return colours.ReplaceAllStringFunc(style, func(c string) string { return "var(--" + names[c] + ")" })
		}
		return plainly(style, names)
	})
	s = strings.ReplaceAll(s, "\n\t", " ")
	var b bytes.Buffer
	size := fmt.Sprintf(`viewBox="0 0 %.5g %.5g" font-family="'Liberation Sans', Arial, Helvetica, sans-serif"`, d.width, d.height)
	title, about := html.EscapeString(d.chart.title), html.EscapeString(d.chart.about)
	if at == inPage {
		fmt.Fprintf(&b, `<svg %s role="img" aria-label="%s">`, size, title)
	} else {
		fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.5g" height="%.5g" %s role="img" aria-labelledby="title about">`+"\n", d.width, d.height, size)
		fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n<style>%s</style>\n", title, about, darkCSS())
		fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s" class="fill-%s"/>`, strings.ToLower(paper.light), paper.name)
	}
	b.WriteString(s)
	return bytes.TrimSpace(b.Bytes())
}

// plainly takes the colours out of a style attribute: each becomes an attribute of its own and a class, by its name.
func plainly(style string, names map[string]string) string {
	var rest, classes []string
	attributes := ""
	for _, declaration := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(style, `style="`), `"`), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if name := names[value]; name != "" {
			attributes += fmt.Sprintf(` %s="%s"`, property, strings.ToLower(value))
			classes = append(classes, property+"-"+name)
		} else if declaration != "" {
			rest = append(rest, declaration)
		}
	}
	if len(rest) > 0 {
		attributes += ` style="` + strings.Join(rest, ";") + `"`
	}
	if len(classes) > 0 {
		attributes += ` class="` + strings.Join(classes, " ") + `"`
	}
	return strings.TrimPrefix(attributes, " ")
}
