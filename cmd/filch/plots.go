package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	valueWidth vg.Length = 40 // the column with the figures of filch
)

// newPlot returns a plot with both axes in the style of all.
func newPlot(size vg.Length) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle.Width = 0
		a.Tick.LineStyle.Width = 0
		a.Tick.Length = 3
		align := a.Tick.Label
		a.Tick.Label = styleOf(size, faint, false)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = align.XAlign, align.YAlign
	}
	return p
}

// paintLines draws a chart of points: programs below one another, and a logarithmic axis across.
func (d *drawing) paintLines(area draw.Canvas) {
	st := styleOf(small, faint, false)
	st.XAlign = text.XCenter
	d.canvas.FillText(st, vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: area.Min.Y + 3}, d.axis+", logarithmic")
	area = draw.Crop(area, 0, 0, small*lineSpace, 0)
	if d.hasValues() {
		area.Max.X -= valueWidth
	}
	p := newPlot(small)
	p.X.Scale = plot.LogScale{}
	p.Y.Tick.Label = styleOf(plain, ink, false)
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = text.XRight, text.YCenter
	var names []plot.Tick
	y := vg.Length(0)
	for _, l := range slices.Backward(d.lines) {
		h := d.lineHeight(l)
		names = append(names, plot.Tick{Value: float64(y + h/2), Label: cut(l.name, p.Y.Tick.Label, d.width*0.4)})
		y += h
	}
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.Min, p.Y.Max = 0, float64(y)
	if d.parted || d.hasValues() {
		p.Y.Max = float64(y) + float64(small*lineSpace)
	}
	low, high := d.extent()
	p.X.Min, p.X.Max = low, high
	across := p.DataCanvas(area)
	width := across.Max.X - across.Min.X
	pl := &pointsPlot{drawing: d, none: d.noneWidth(), edge: low, top: y}
	ticks := ticksBetween(low, high, int((width-pl.none)/42))
	pl.ticks = ticks
	if pl.none > 0 {
		part := float64(pl.none / width)
		p.X.Min = math.Exp(math.Log(low) - (math.Log(high)-math.Log(low))*part/(1-part))
		ticks = append(ticks, plot.Tick{Value: math.Sqrt(p.X.Min * low), Label: "none"})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Add(pl)
	p.Draw(area)
}

// extent returns between what the axis goes: a bit more than between what all points lie, and 1 is there if
// it parts them.
func (d *drawing) extent() (low, high float64) {
	low, high = extent(d.lines)
	if d.parted {
		low, high = min(low, 0.9), max(high, 1.1)
	}
	more := max(math.Pow(high/low, 0.04), 1.02)
	return low / more, high * more
}

// noneWidth is how wide the strip for executors without a figure is.
func (d *drawing) noneWidth() (w vg.Length) {
	for _, l := range d.lines {
		if n := len(l.none); n > 0 {
			w = max(w, 40, vg.Length(n+1)*10)
		}
	}
	return w
}

// ticksBetween returns round numbers, a handful, that have about the same distance on a logarithmic axis.
func ticksBetween(low, high float64, most int) (ticks []plot.Tick) {
	most = max(most, 2)
	decades := [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}}
	var all [][]float64
	for _, in := range decades {
		var values []float64
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, m := range in {
				values = append(values, m*math.Pow(10, e))
			}
		}
		all = append(all, values)
	}
	unit := max(1, math.Pow(10, math.Floor(math.Log10(high))))
	for _, part := range []float64{0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001} {
		step := part * unit
		if n := (high - low) / step; n < 50 {
			var values []float64
			for k := math.Ceil(low / step); k*step <= high; k++ {
				values = append(values, k*step)
			}
			all = append(all, values)
		}
	}
	var best []float64
	for _, values := range all {
		values = slices.DeleteFunc(values, func(v float64) bool { return v < low || v > high })
		if len(values) <= most && len(values) > len(best) {
			best = values
		}
		if len(best) >= 4 {
			break
		}
	}
	if best == nil { // more decades than there is room for
		from, to := math.Ceil(math.Log10(low)), math.Floor(math.Log10(high))
		step := math.Ceil((to - from + 1) / float64(most))
		for e := math.Ceil(from/step) * step; e <= to; e += step {
			best = append(best, math.Pow(10, e))
		}
	}
	for _, v := range best {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(round(v), 'g', -1, 64)})
	}
	return ticks
}

// round leaves four digits, which is more than any tick has.
func round(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	if unit < 1 {
		return math.Round(v*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(v/unit) * unit
}

// pointsPlot draws what is between the axes of a chart of points.
type pointsPlot struct {
	*drawing
	ticks []plot.Tick
	top   vg.Length // of the highest line, from the lowest one's bottom
	none  vg.Length // the width of the strip for executors without a figure
	edge  float64   // where the axis begins, right of the strip for none
}

// Plot is called with the space between the axes.
func (pl *pointsPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(v vg.Length) vg.Length { return y(float64(v)) }
	from := c.Min.X
	if pl.none > 0 {
		from = x(pl.edge)
	}
	pl.paintGround(c, x, at, from)
	line := pl.top
	for _, l := range pl.lines {
		h := pl.lineHeight(l)
		pl.paintLine(l, x, func(i, n int) vg.Length {
			return at(line - h/2 - (vg.Length(i)-vg.Length(n-1)/2)*pl.step())
		}, c.Min.X)
		pl.paintValue(l, vg.Point{X: c.Max.X + valueWidth, Y: at(line-h/2) + 3})
		line -= h
	}
}

// paintGround draws bands behind every second line, the side on which serial programs are faster, and the grid.
func (pl *pointsPlot) paintGround(c draw.Canvas, x func(float64) vg.Length, at func(vg.Length) vg.Length, from vg.Length) {
	box := func(p paint, left, right, low, high vg.Length) {
		c.FillPolygon(p.color(), []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
	}
	line := pl.top
	for i, l := range pl.lines {
		if h := pl.lineHeight(l); i%2 == 0 {
			box(band, c.Min.X, c.Max.X, at(line-h), at(line))
		}
		line -= pl.lineHeight(l)
	}
	if pl.parted {
		box(shade, from, x(1), at(0), at(pl.top))
	}
	for _, t := range pl.ticks {
		c.StrokeLine2(draw.LineStyle{Color: ruled.color(), Width: 0.8}, x(t.Value), at(0), x(t.Value), at(pl.top))
	}
	if pl.none > 0 {
		c.StrokeLine2(draw.LineStyle{Color: ruled.color(), Width: 0.8}, from, at(0), from, at(pl.top))
	}
	if pl.hasValues() {
		st := styleOf(small, pl.looks[0].paint(), true)
		st.XAlign = text.XRight
		c.FillText(st, vg.Point{X: c.Max.X + valueWidth, Y: at(pl.top) + 4}, cut(pl.looks[0].name, st, valueWidth+20))
	}
	if !pl.parted {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: faint.color(), Width: 1.3}, x(1), at(0), x(1), at(pl.top))
	head := func(p paint, align text.XAlignment, to vg.Length, room vg.Length, all ...string) {
		st := styleOf(small, p, false)
		st.XAlign = align
		for _, s := range all {
			if st.Width(s) <= room {
				c.FillText(st, vg.Point{X: to, Y: at(pl.top) + 4}, s)
				return
			}
		}
	}
	head(harm, text.XRight, x(1)-5, x(1)-5-c.Min.X, "slower than serial", "slower")
	head(faint, text.XLeft, x(1)+5, c.Max.X-x(1)-5, "faster")
}

// paintLine draws the executors of one program. At says where the i-th of n is.
func (pl *pointsPlot) paintLine(l line, x func(float64) vg.Length, at func(i, n int) vg.Length, none vg.Length) {
	for i, p := range l.points {
		look, y := pl.looks[p.executor], at(i, len(l.points))
		st := draw.LineStyle{Color: look.paint().color(), Width: 1.3}
		pl.canvas.StrokeLine2(st, x(p.low), y, x(p.high), y)
		for _, v := range []float64{p.low, p.high} {
			pl.canvas.StrokeLine2(st, x(v), y-2, x(v), y+2)
		}
		if pl.apart {
			for _, v := range p.runs {
				pl.canvas.StrokeLine2(st, x(v), y-1.6, x(v), y+1.6)
			}
		}
	}
	for i, p := range l.points { // over all lines
		spot := vg.Point{X: x(p.mid), Y: at(i, len(l.points))}
		pl.glyph(pl.looks[p.executor], spot, pl.radius())
		if p.lost {
			pl.ring(spot)
		}
	}
	for i, e := range l.none {
		spot := vg.Point{X: none + pl.none*vg.Length(i+1)/vg.Length(len(l.none)+1), Y: at(0, 1)}
		pl.glyph(pl.looks[e], spot, pl.radius())
	}
}

// hasValues reports whether the figures of filch's first executor stand at the end of the lines.
func (d *drawing) hasValues() bool {
	return !d.apart && len(d.looks) > 0 && d.looks[0].ours
}

func (pl *pointsPlot) paintValue(l line, at vg.Point) {
	i := slices.IndexFunc(l.points, func(p point) bool { return p.executor == 0 })
	if i < 0 || !pl.hasValues() {
		return
	}
	p := pl.looks[0].paint()
	if l.points[i].lost {
		p = harm
	}
	st := styleOf(small, p, true)
	st.XAlign, st.YAlign = text.XRight, text.YCenter
	pl.canvas.FillText(st, at, digits(l.points[i].mid))
}

func (d *drawing) radius() vg.Length {
	if d.apart {
		return 2.6
	}
	return 3.6
}

// A panel is wide enough for the names of its curves at their ends, and its plot at least 200 high.
const (
	panelGap   vg.Length = 12
	panelLeast vg.Length = 330
	panelHigh  vg.Length = 240
	mostNamed            = 9 // curves: more would stand on one another
)

// panelsAcross returns how many panels stand beside one another.
func (d *drawing) panelsAcross() int {
	return min(max(1, int((d.width-2*margin+panelGap)/panelLeast)), len(d.panels))
}

func (d *drawing) panelRows() int {
	return (len(d.panels) + d.panelsAcross() - 1) / d.panelsAcross()
}

func (d *drawing) panelHeight() vg.Length { return panelHigh }

// paintPanels draws small charts, in rows.
func (d *drawing) paintPanels(area draw.Canvas) {
	n := d.panelsAcross()
	w := (area.Max.X - area.Min.X - vg.Length(n-1)*panelGap) / vg.Length(n)
	for i, panel := range d.panels {
		left := area.Min.X + vg.Length(i%n)*(w+panelGap)
		top := area.Max.Y - vg.Length(i/n)*d.panelHeight()
		d.paintPanel(panel, draw.Canvas{Canvas: area.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - d.panelHeight() + 6}, Max: vg.Point{X: left + w, Y: top}}})
	}
	st := styleOf(small, faint, false)
	y := area.Max.Y - vg.Length(d.panelRows())*d.panelHeight()
	for _, s := range wrap(d.axis, st, area.Max.X-area.Min.X) {
		y -= small * lineSpace
		d.canvas.FillText(st, vg.Point{X: area.Min.X, Y: y + 3}, s)
	}
}

func (d *drawing) paintPanel(n panel, area draw.Canvas) {
	p := newPlot(10)
	p.Title.TextStyle = styleOf(small, ink, true)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = text.XCenter, text.YTop
	p.Title.Text = cut(n.name, p.Title.TextStyle, area.Max.X-area.Min.X-8)
	p.Title.Padding = 4
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	var workers []float64
	low, high := 1.0, 1.0
	if n.wide {
		low, high = math.Inf(1), 0
	}
	for _, q := range slices.Concat(n.bounds...) {
		low, high = min(low, q.mid), max(high, q.mid)
	}
	for _, curve := range n.curves {
		for _, q := range curve {
			low, high = min(low, q.mid), max(high, q.mid)
			if !slices.Contains(workers, q.x) {
				workers = append(workers, q.x)
			}
		}
	}
	slices.Sort(workers)
	fewest, most := workers[0], workers[len(workers)-1]
	p.X.Min, p.X.Max = fewest/1.08, most*1.08
	if len(n.curves) <= mostNamed {
		p.X.Max = max(most*1.2, most*math.Pow(most/fewest, 0.32)) // room for names
	}
	more := math.Pow(high/low, 0.06)
	if low == high {
		more = 2
	}
	p.Y.Min, p.Y.Max = low/more, high*more
	var ticks []plot.Tick
	for _, v := range workers {
		if k := len(ticks); k == 0 || v/ticks[k-1].Value >= math.Pow(most/fewest, 0.14) {
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', 0, 64)})
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Marker = plot.ConstantTicks(ticksBetween(p.Y.Min, p.Y.Max, 5))
	p.Add(&curvesPlot{d, n.curves, n.bounds})
	p.Draw(area)
}

// curvesPlot draws what is between the axes of a panel.
type curvesPlot struct {
	*drawing
	curves, bounds [][]point
}

// Plot is called with the space between the axes.
func (pl *curvesPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: ruled.color(), Width: 0.8}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
	st := draw.LineStyle{Color: faint.color(), Width: 1}
	if p.Y.Min <= 1 && 1 <= p.Y.Max {
		c.StrokeLine2(st, c.Min.X, y(1), c.Max.X, y(1))
	}
	st.Dashes = []vg.Length{4, 3}
	for _, bound := range pl.bounds {
		var points []vg.Point
		for _, q := range bound {
			points = append(points, vg.Point{X: x(q.x), Y: y(q.mid)})
		}
		c.StrokeLines(st, points)
	}
	for _, curve := range slices.Backward(pl.curves) { // filch's come first, and are drawn over the others
		var points []vg.Point
		look := pl.looks[curve[0].executor]
		for _, q := range curve {
			points = append(points, vg.Point{X: x(q.x), Y: y(q.mid)})
		}
		c.StrokeLines(draw.LineStyle{Color: look.paint().color(), Width: 1.3}, points)
		for _, at := range points {
			pl.glyph(look, at, 2.8)
		}
	}
	if len(pl.curves) <= mostNamed {
		pl.nameCurves(c, func(q point) vg.Point { return vg.Point{X: x(q.x), Y: y(q.mid)} })
	}
}

// nameCurves writes the name of each curve at its right end. Names that would stand on one another are moved apart.
func (pl *curvesPlot) nameCurves(c draw.Canvas, at func(q point) vg.Point) {
	type name struct {
		at    vg.Point
		curve []point
	}
	var names []name
	for _, curve := range pl.curves {
		names = append(names, name{at(curve[len(curve)-1]), curve})
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(b.at.Y, a.at.Y) })
	for i := range names {
		top := c.Max.Y - small/2
		if i > 0 {
			top = names[i-1].at.Y - small
		}
		names[i].at.Y = min(names[i].at.Y, top)
	}
	for i := len(names) - 1; i >= 0; i-- { // what has come below the axis goes up again
		bottom := c.Min.Y + small/2
		if i+1 < len(names) {
			bottom = names[i+1].at.Y + small
		}
		names[i].at.Y = max(names[i].at.Y, bottom)
	}
	for _, n := range names {
		st := styleOf(small, pl.looks[n.curve[0].executor].paint(), false)
		st.XAlign, st.YAlign = text.XLeft, text.YCenter
		c.FillText(st, vg.Point{X: n.at.X + 6, Y: n.at.Y}, cut(pl.looks[n.curve[0].executor].name, st, c.Max.X-n.at.X-6))
	}
}
