package flow_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
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
				t.Fatalf("%q: %v", name, err)
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
