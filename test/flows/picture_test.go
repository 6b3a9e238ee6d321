package flows

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/internal/race/racetest"
)

// drawnGraph is a graph with all kinds of nodes, and names that need care. Its nodes sleep.
func drawnGraph() *flow.Graph {
	g := flow.New(`a "graph" <&>`)
	sleep := func(ms int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { time.Sleep(time.Duration(ms) * time.Millisecond); return 0, nil }
	}
	begin := flow.Node(g, "begin", sleep(1))
	long := flow.Node(g, "long\n\\]]><b>", sleep(20), begin)
	short := flow.Node(g, "short", sleep(3), begin)
	rounds := 0
	more := flow.Choose(g, "more?", func(context.Context) (int, error) { rounds++; return min(rounds/2, 1), nil }, long, short)
	inner := flow.New("inner")
	flow.Node(inner, "x", sleep(2))
	end := flow.Sub(g, "end", inner)
	more.To(more, end, flow.Node(g, "never", sleep(0)))
	return g
}

// DOT has nodes, edges and names, and after a run the times and the critical path.
func TestDOTShowsTimesAndCriticalPath(t *testing.T) {
	g := drawnGraph()
	var b bytes.Buffer
	noError(t, g.WriteDOT(&b))
	const before = `digraph "a \"graph\" <&>" {
	label="a \"graph\" <&amp;>: 6 nodes"; labelloc=t; fontname="sans-serif";
	node [shape=box, style=rounded, fontname="sans-serif"];
	n0 [label="begin"];
	n1 [label="long\n\\]]><b>"];
	n2 [label="short"];
	n3 [label="more?", shape=diamond, style=solid];
	n4 [label="end", shape=box3d, style=solid];
	n5 [label="never"];
	n0 -> n1;
	n0 -> n2;
	n1 -> n3;
	n2 -> n3;
	n3 -> n3 [style=dashed, label="0", constraint=false];
	n3 -> n4 [style=dashed, label="1"];
	n3 -> n5 [style=dashed, label="2"];
}
`
	if b.String() != before {
		t.Errorf("it is\n%s", b.String())
	}
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		for range 2 { // times are those of one run
			noError(t, g.Run(context.Background(), p))
		}
	})
	late := shapes["grid"](9) // drawn for the first time after a run
	noError(t, late.Run(context.Background(), filch.Default()))
	b.Reset()
	if noError(t, late.WriteDOT(&b)); !strings.Contains(b.String(), "grid: 9 nodes, work ") {
		t.Errorf("it is\n%s", b.String())
	}
	b.Reset()
	noError(t, g.WriteDOT(&b))
	for _, want := range []string{
		": 6 nodes, work 26ms, critical path 23ms, parallelism 1.1\"",
		"n0 [label=\"begin\\n1ms\", color=\"#c2410c\", penwidth=2.5]",
		"n2 [label=\"short\\n3ms\"];",
		"n5 [label=\"never\\ndid not run\", color=gray, fontcolor=gray]",
		"n0 -> n1 [color=\"#c2410c\", penwidth=2.5]",
		"n0 -> n2;",
		"n3 -> n4 [style=dashed, label=\"1\", color=\"#c2410c\", penwidth=2.5]",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// After a run that failed, pictures say which node failed, and which did not run: also if the first one
// failed, so that there are no times. After the next run they say so no more.
func TestPicturesShowWhatFailed(t *testing.T) {
	const failed = "failed\", color=\"#cf222e\", fontcolor=\"#cf222e\", penwidth=2.5]"
	for at, want := range map[string][]string{
		"compile": {`"compile\n` + failed, `"link\ndid not run"`, `"test\ndid not run"`},
		"link":    {`"compile\n1ms"`, `"link\n` + failed, `"test\ndid not run"`},
		"test":    {`"compile\n1ms"`, `"link\n1ms"`, `"test\n` + failed},
	} {
		for _, fail := range []func() error{func() error { return errors.New("exit status 1") }, func() error { panic("boom") }} {
			broken := true
			g := flow.New("build")
			var deps []flow.Dep
			for _, name := range []string{"compile", "link", "test"} {
				deps = []flow.Dep{flow.Node(g, name, func(context.Context) (int, error) {
					if time.Sleep(time.Millisecond); broken && name == at {
						return 0, fail()
					}
					return 0, nil
				}, deps...)}
			}
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(2))
				defer p.Close()
				if err := g.Run(context.Background(), p); err == nil {
					t.Error("no error")
				}
			})
			dot, svg := drawing(t, g)
			for _, want := range want {
				if !strings.Contains(dot, want) {
					t.Errorf("no %s in\n%s", want, dot)
				}
			}
			if n := strings.Count(svg, `class="note failed"`); n != 1 {
				t.Errorf("%d nodes failed in\n%s", n, svg)
			}
			broken = false
			noError(t, g.Run(context.Background(), filch.Default()))
			if dot, _ := drawing(t, g); strings.Contains(dot, "failed") {
				t.Errorf("after the next run it is\n%s", dot)
			}
		}
	}
}

func drawing(t *testing.T, g *flow.Graph) (dot, svg string) {
	t.Helper()
	var b strings.Builder
	noError(t, g.WriteDOT(&b))
	dot = b.String()
	b.Reset()
	noError(t, g.WriteSVG(&b))
	return dot, b.String()
}

// SVG is XML whatever the names are, and has them all.
func TestSVGIsXMLWithAllNames(t *testing.T) {
	big := func(n int) *flow.Graph { return shapes["grid"](n) }
	for _, g := range []*flow.Graph{drawnGraph(), flow.New("none"), big(100), big(1000), shapes["fan"](1000), shapes["tree"](1000), shapes["chain"](1000)} {
		for run := range 2 {
			var b bytes.Buffer
			noError(t, g.WriteSVG(&b))
			texts := textsOf(t, &b)
			if g.Name() != `a "graph" <&>` {
				noError(t, g.Run(context.Background(), filch.Default()))
				continue
			}
			for _, want := range []string{"begin", "long\n\\]]><b>", "never"} {
				if !texts[want] {
					t.Errorf("no %q in %v", want, texts)
				}
			}
			if run == 0 {
				break
			}
		}
	}
}

func textsOf(t *testing.T, r io.Reader) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	for d := xml.NewDecoder(r); ; {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		noError(t, err)
		if text, ok := token.(xml.CharData); ok {
			texts[string(text)] = true
		}
		if at, ok := token.(xml.StartElement); ok {
			for _, a := range at.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s has the %s %q", at.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

type badWriter struct{}

var errWrite = errors.New("the disk is full")

func (badWriter) Write([]byte) (int, error) { return 0, errWrite }

// Pictures of bad graphs, and on bad writers, are errors.
func TestPicturesFailWithGraphAndWriter(t *testing.T) {
	g := flow.New("g")
	flow.Node(g, "a", nothing)
	for _, write := range []func(io.Writer) error{g.WriteDOT, g.WriteSVG} {
		if err := write(badWriter{}); !errors.Is(err, errWrite) {
			t.Errorf("the error is %v", err)
		}
	}
	flow.Node(g, "a", nothing)
	for _, write := range []func(io.Writer) error{g.WriteDOT, g.WriteSVG} {
		isText(t, write(io.Discard), `flow: graph "g": there are two nodes "a"`)
	}
}

// Pictures may be drawn while the graph runs.
func TestPicturesDuringRuns(t *testing.T) {
	g := shapes["grid"](400)
	done := make(chan error)
	go func() {
		for range 30 {
			if err := g.Run(context.Background(), filch.Default()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			noError(t, err)
			return
		default:
			noError(t, g.WriteSVG(io.Discard))
			noError(t, g.WriteDOT(io.Discard))
		}
	}
}

// By the critical path, times of the run before count: what took long comes first, though it has
// fewer nodes behind it.
func TestCriticalPathIsThatOfTheLastRun(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		g := flow.New("g", flow.ByCriticalPath())
		var order []string
		node := func(name string, ms int, deps ...flow.Dep) flow.Dep {
			return flow.Node(g, name, func(context.Context) (int, error) {
				order = append(order, name)
				time.Sleep(time.Duration(ms) * time.Millisecond)
				return 0, nil
			}, deps...)
		}
		first := node("first", 1)
		node("slow", 50, first)
		last := node("many", 1, first)
		for i := range 3 {
			last = node(fmt.Sprint("more ", i), 1, last)
		}
		for _, want := range []string{"many", "slow"} {
			order = nil
			noError(t, g.Run(context.Background(), p))
			if order[1] != want {
				t.Errorf("the order is %q; %s should come first", order, want)
			}
		}
	})
}

// Any names make pictures that can be read: XML, and DOT whose strings end.
func TestPicturesOfAnyNames(t *testing.T) {
	names := []string{"", `"`, `\`, `\n`, `\N`, "a\"b\\", "<b>&amp;", "a\nb", "\x00\x01\x1f\x7f", "\u202eabc", "]]>", "\xff\xfe",
		"\ufffe\uffff", strings.Repeat("x", 10_000), "a;b{c}", "\r", "</svg>", "e\u0301\u0301"}
	for _, name := range names {
		g := flow.New(name)
		for _, n := range names {
			flow.Node(g, n, nothing)
		}
		var svg, dot bytes.Buffer
		noError(t, g.WriteSVG(&svg))
		noError(t, g.WriteDOT(&dot))
		for d := xml.NewDecoder(&svg); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("d.Token(): %q: %v", name, err)
			}
		}
		inside := false
		for text := dot.Bytes(); len(text) > 0; text = text[1:] {
			switch {
			case inside && text[0] == '\\':
				text = text[1:]
			case text[0] == '"':
				inside = !inside
			case text[0] == 0 || inside && text[0] == '\n':
				t.Errorf("%q: %q in a string", name, text[0])
			}
		}
		if inside {
			t.Errorf("%q: a string has no end", name)
		}
	}
}

// Labels of DOT show what looks like an entity of HTML as it is, and no bytes that are not UTF-8.
func TestLabelsOfDOTAreNotDecoded(t *testing.T) {
	g := flow.New("a&b")
	flow.Node(g, "x &lt; y\xff", nothing)
	var dot strings.Builder
	noError(t, g.WriteDOT(&dot))
	for _, want := range []string{`label="a&amp;b: 1 nodes"`, `label="x &amp;lt; y?"`} {
		if !strings.Contains(dot.String(), want) {
			t.Errorf("there is no %s in\n%s", want, dot.String())
		}
	}
}

// The time of a node is that of its function, on any number of workers, and not that for which it waits for
// a worker or a limit. The critical path is that of the edges.
func TestTimesAreThoseOfTheNodes(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			g, l := flow.New("g"), flow.NewLimit(1)
			node := func(name string, seconds time.Duration, deps ...flow.Dep) *flow.Of[int] {
				return flow.Node(g, name, func(ctx context.Context) (int, error) {
					filch.Blocking(ctx, func() { time.Sleep(seconds * time.Second) })
					return 0, nil
				}, deps...)
			}
			a := node("a", 1)
			b := node("b", 3, a).Take(l, 1)
			c := node("c", 2, a).Take(l, 1)
			node("d", 5, c)
			node("e", 1, b)
			noError(t, g.Run(context.Background(), p))
			var dot strings.Builder
			noError(t, g.WriteDOT(&dot))
			for _, want := range []string{`"a\n1s"`, `"b\n3s"`, `"c\n2s"`, `"d\n5s"`, `"e\n1s"`, "work 12s, critical path 8s"} {
				if !strings.Contains(dot.String(), want) {
					t.Errorf("%d workers: there is no %s in\n%s", workers, want, dot.String())
				}
			}
		})
	}
}

// The label of a weak edge stands between the two nodes, beside the head of the edge and above what it leads to, in letters that are
// smaller than those of names.
func TestLabelsOfEdgesStandFree(t *testing.T) {
	var svg bytes.Buffer
	noError(t, drawnGraph().WriteSVG(&svg))
	number := func(pattern string) []float64 {
		m := regexp.MustCompile(pattern).FindStringSubmatch(svg.String())
		if m == nil {
			t.Fatalf("nothing in the picture is %s:\n%s", pattern, svg.String())
		}
		var all []float64
		for _, s := range m[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatalf("%s of %s: %v", s, pattern, err)
			}
			all = append(all, v)
		}
		return all
	}
	font := number(`class="name" [^>]* font-size="([\d.]+)">begin<`)[0]
	source := number(`<title>more\?</title><path class="node" d="M[\d.]+ ([\d.]+)h[\d.]+l[\d.]+ ([\d.]+)l`)
	bottom := source[0] + 2*source[1]
	start := number(`x="([\d.]+)" y="[\d.]+" font-size="[\d.]+">more`)[0]
	for label, to := range map[string]string{"1": "end", "2": "never"} {
		top := number(`<title>` + to + `</title><rect class="node" x="[\d.]+" y="([\d.]+)"`)[0]
		middle := number(`x="([\d.]+)" y="[\d.]+" font-size="[\d.]+">` + to + `<`)[0]
		l := number(`<text class="label"[^>]* x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)">` + label + `<`)
		x, y, size := l[0], l[1], l[2]
		if outside := x < middle; x == middle || outside != (middle < start) {
			t.Errorf("label %s is at %v, on the side of %s at %v from which the edge comes, at %v", label, x, to, middle, start)
		}
		if size >= font {
			t.Errorf("label %s has letters of %v, not smaller than %v", label, size, font)
		}
		if y+size/4 > top || y < top-font || y-size < bottom {
			t.Errorf("label %s stands on %v with letters of %v, not just above %s at %v and below the node at %v", label, y, size, to, top, bottom)
		}
	}
	back := number(`<text class="label" x="[\d.]+" y="([\d.]+)" font-size="([\d.]+)">0<`)
	right := number(`d="M([\d.]+) [\d.]+H`)[0]
	if at := number(`<text class="label" x="([\d.]+)" y="[\d.]+" font-size="[\d.]+">0<`)[0]; at <= right {
		t.Errorf("the label of the edge that leads back begins at %v, within the node that ends at %v", at, right)
	}
	if edge := source[0] + 2*source[1]*0.6; back[0] > edge || back[0] < edge-font || back[1] >= font {
		t.Errorf("the label of the edge that leads back stands on %v with letters of %v, not just above the edge at %v", back[0], back[1], edge)
	}
}
