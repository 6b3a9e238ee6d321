package span

import (
	"fmt"
	"io"
	"math"
	"strings"
)

const style = `<style>
text { font-family: system-ui, sans-serif; font-size: 12px; fill: #1f2328; }
.title { font-size: 14px; font-weight: 600; }
.note { fill: #59636e; }
.x { text-anchor: middle; }
.y { text-anchor: end; }
.back { fill: #ffffff; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.one { stroke: #59636e; stroke-width: 1.5; }
.perfect { fill: none; stroke: #818b98; stroke-width: 1.5; stroke-dasharray: 5 4; }
.between { fill: #ffd8b5; opacity: 0.6; }
.most { fill: none; stroke: #c2410c; stroke-width: 2; }
.least { fill: none; stroke: #0969da; stroke-width: 2; }
.of.most { fill: #c2410c; stroke: none; }
.of.least { fill: #0969da; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.note { fill: #9198a1; }
.back { fill: #0d1117; }
.grid { stroke: #30363d; }
.one { stroke: #9198a1; }
.perfect { stroke: #6e7681; }
.between { fill: #3d1d0a; }
.most { stroke: #fb923c; }
.least { stroke: #58a6ff; }
.of.most { fill: #fb923c; }
.of.least { fill: #58a6ff; }
}
</style>
`

// The picture has both axes by powers of 2: workers from 1 to 256, speed-ups from a half to 256.
const (
	left, right, above, below = 56, 24, 92, 48
	octave                    = 52
	octavesX, octavesY        = 8, 9
	width, height             = left + octavesX*octave + right, above + octavesY*octave + below
	perOctave                 = 8 // points of a curve
)

func x(workers float64) float64 { return left + octave*math.Log2(workers) }

func y(speedUp float64) float64 {
	return above + octave*(octavesY-1-math.Log2(max(0.5, speedUp)))
}

// WriteSVG draws how the speed-up grows with the workers.
func (p *Profile) WriteSVG(w io.Writer) error {
	var b strings.Builder
	title := fmt.Sprintf("Parallelism %s, burdened %s", digits(p.Parallelism()), digits(p.BurdenedParallelism()))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n%s", title, p.description(), style)
	fmt.Fprintf(&b, `<rect class="back" width="100%%" height="100%%"/>`+"\n")
	fmt.Fprintf(&b, `<text class="title" x="%d" y="28">%s</text>`+"\n", 16, title)
	fmt.Fprintf(&b, `<text class="note" x="%d" y="47">work %v, span %v, burdened span %v, %d forks</text>`+"\n", 16, rounded(p.Work), rounded(p.Span), rounded(p.BurdenedSpan), p.Forks)
	fmt.Fprintf(&b, `<text class="of most" x="%d" y="66">at most</text><text class="of least" x="%d" y="66">at least, about</text>`, 16, 76)
	fmt.Fprintf(&b, `<text class="note" x="%d" y="66">dashed: as many times as workers</text>`+"\n", 180)
	p.drawGrid(&b)
	p.drawCurves(&b)
	fmt.Fprint(&b, "</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// description says the curve in words.
func (p *Profile) description() string {
	var b strings.Builder
	fmt.Fprint(&b, "Speed-up by workers, at least and at most:")
	for _, n := range shown[1:] {
		least, most := p.SpeedUp(n)
		fmt.Fprintf(&b, " %d: %s to %s.", n, digits(least), digits(most))
	}
	return b.String()
}

func (p *Profile) drawGrid(b *strings.Builder) {
	end, bottom := x(256), y(0.5)
	for _, n := range shown {
		at := x(float64(n))
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%.1f"/><text class="x" x="%.1f" y="%.1f">%d</text>`+"\n", at, above, bottom, at, bottom+18, n)
	}
	for v := 0.5; v <= 256; v *= 2 {
		class := "grid"
		if v == 1 {
			class = "one"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%d %.1fH%.1f"/><text class="y" x="%d" y="%.1f">%g</text>`+"\n", class, left, y(v), end, left-8, y(v)+4, v)
	}
	fmt.Fprintf(b, `<text class="note x" x="%.1f" y="%.1f">workers</text>`+"\n", (left+end)/2, bottom+38)
	fmt.Fprintf(b, `<text class="note x" transform="translate(16 %.1f) rotate(-90)">speed-up</text>`+"\n", (above+bottom)/2)
}

func (p *Profile) drawCurves(b *strings.Builder) {
	var least, most []string
	for i := range octavesX*perOctave + 1 {
		n := math.Exp2(float64(i) / perOctave)
		lo, hi := p.speedUp(n)
		least = append(least, fmt.Sprintf("%.1f %.1f", x(n), y(lo)))
		most = append(most, fmt.Sprintf("%.1f %.1f", x(n), y(hi)))
	}
	forth := strings.Join(most, "L")
	back := ""
	for _, point := range least {
		back = "L" + point + back
	}
	fmt.Fprintf(b, `<path class="between" d="M%s%sz"/>`+"\n", forth, back)
	fmt.Fprintf(b, `<path class="perfect" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x(1), y(1), x(256), y(256))
	fmt.Fprintf(b, `<path class="most" d="M%s"/>`+"\n", forth)
	fmt.Fprintf(b, `<path class="least" d="M%s"/>`+"\n", strings.Join(least, "L"))
}
