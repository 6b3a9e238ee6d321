package flow_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

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
