package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
)

// wide is how wide pictures are, in pixels. They are shown as wide in a page of documents, and on a
// phone some 360 wide, where the least text is still 9 pixels high.
const wide = 560

// The sizes of text.
const (
	large = 16.0
	plain = 15.0
	small = 14.0
)

// A canvas is a picture while it is drawn. Its zero is the upper left corner.
type canvas struct {
	title, about string
	height       float64
	body         bytes.Buffer
	texts        []placed
	boxes        []boxed
	moves        string   // what moves, in CSS
	times        []string // the classes of what appears at a time
}

// placed is a text where it stands, for the test that none lies on another or is cut.
type placed struct {
	text                     string
	left, top, right, bottom float64
}

// Where the point of a text is: at its left end, its middle or its right end.
type anchor string

const (
	left   anchor = "start"
	middle anchor = "middle"
	right  anchor = "end"
)

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.body, format+"\n", args...) }

// num writes a coordinate with at most two decimals.
func num(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// text writes one line. y is that of the line on which letters stand.
func (c *canvas) text(x, y, size float64, paint string, at anchor, s string) {
	c.write(x, y, size, paint, at, false, s)
}

// bold does the same in bold letters.
func (c *canvas) bold(x, y, size float64, paint string, at anchor, s string) {
	c.write(x, y, size, paint, at, true, s)
}

func (c *canvas) write(x, y, size float64, paint string, at anchor, bold bool, s string) {
	w := width(s, size)
	class := paint
	if bold {
		w *= 1.08
		class += " bold"
	}
	from := x
	switch at {
	case middle:
		from -= w / 2
	case right:
		from -= w
	}
	c.texts = append(c.texts, placed{s, from, y - size*0.75, from + w, y + size*0.22})
	extra := ""
	if at != left {
		extra = fmt.Sprintf(` text-anchor="%s"`, at)
	}
	c.printf(`<text x="%s" y="%s" font-size="%s" class="%s"%s>%s</text>`, num(x), num(y), num(size), class, extra, html.EscapeString(s))
}

// para writes s from the left in lines no wider than w, and returns where the next line would stand.
func (c *canvas) para(x, y, w, size float64, paint, s string) float64 {
	for _, line := range wrap(s, size, w) {
		c.text(x, y, size, paint, left, line)
		y += size * 1.35
	}
	return y
}

// foot writes what a picture ends with, and makes it as high as that takes.
func (c *canvas) foot(y float64, lines ...string) {
	for _, s := range lines {
		y = c.para(16, y, wide-44, small, "faint", s)
	}
	c.height = math.Ceil(y - small*1.35 + 16)
}

// box draws a rectangle with lines of text in its middle, the first of them bold if there are more.
func (c *canvas) box(x, y, w, h float64, paint string, lines ...string) {
	c.rect(x, y, w, h, 6, paint)
	c.boxes = append(c.boxes, boxed{w, h, lines})
	at := y + h/2 - float64(len(lines)-1)*small*1.35/2 + small*0.36
	for i, s := range lines {
		c.write(x+w/2, at, small, "ink", middle, i == 0 && len(lines) > 1, s)
		at += small * 1.35
	}
}

func (c *canvas) rect(x, y, w, h, round float64, paint string) {
	extra := ""
	if round > 0 {
		extra = fmt.Sprintf(` rx="%s"`, num(round))
	}
	c.printf(`<rect x="%s" y="%s" width="%s" height="%s"%s class="%s"/>`, num(x), num(y), num(w), num(h), extra, paint)
}

func (c *canvas) circle(x, y, r float64, paint string) {
	c.printf(`<circle cx="%s" cy="%s" r="%s" class="%s"/>`, num(x), num(y), num(r), paint)
}

// line draws lines through points, given as x, y, x, y and so on.
func (c *canvas) line(paint string, xy ...float64) {
	var b strings.Builder
	for i := 0; i+1 < len(xy); i += 2 {
		fmt.Fprintf(&b, "%c%s %s", "ML"[min(i, 1)], num(xy[i]), num(xy[i+1]))
	}
	c.printf(`<path d="%s" class="%s"/>`, b.String(), paint)
}

// arrow draws such lines with a head at the last point, for which there is a paint of its own.
func (c *canvas) arrow(paint, head string, xy ...float64) {
	n := len(xy)
	x, y := xy[n-2], xy[n-1]
	dx, dy := x-xy[n-4], y-xy[n-3]
	l := math.Hypot(dx, dy)
	dx, dy = dx/l, dy/l
	const long, half = 9, 4.5
	bx, by := x-dx*long, y-dy*long
	shaft := append([]float64{}, xy...)
	shaft[n-2], shaft[n-1] = bx, by
	c.line(paint, shaft...)
	c.printf(`<path d="M%s %sL%s %sL%s %sZ" class="%s"/>`, num(x), num(y), num(bx-dy*half), num(by+dx*half), num(bx+dy*half), num(by-dx*half), head)
}

// svg returns the picture as a file that needs nothing else.
func (c *canvas) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %[1]d %[2]s" font-family="'Liberation Sans', Arial, Helvetica, sans-serif" role="img" aria-labelledby="title about">`+"\n", wide, num(c.height))
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n", html.EscapeString(c.title), html.EscapeString(c.about))
	style := css()
	if c.moves != "" {
		style += c.moves + "@media(prefers-reduced-motion:reduce){*{animation:none!important}}"
	}
	fmt.Fprintf(&b, "<style>%s</style>\n", style)
	fmt.Fprintf(&b, `<rect width="%d" height="%s" rx="8" class="paper"/>`+"\n", wide, num(c.height))
	b.Write(c.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// wrap breaks s between words.
func wrap(s string, size, w float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && width(lines[n-1]+" "+word, size) <= w {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// widths are those of the letters from the space to the tilde in Arial, and in what is as wide, such as
// Helvetica and Liberation Sans, in thousandths of the size.
var widths = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// width returns how wide s is.
func width(s string, size float64) (w float64) {
	for _, r := range s {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			w += widths[i]
		} else {
			w += 600
		}
	}
	return w * size / 1000
}

// boxed is a box with its lines, for the test that they fit.
type boxed struct {
	wide, high float64
	lines      []string
}
