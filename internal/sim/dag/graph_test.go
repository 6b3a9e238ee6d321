package dag

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// graph makes a Graph, or fails.
func graph(t testing.TB, root *Part) *Graph {
	t.Helper()
	g, err := NewGraph("", root)
	if err != nil {
		t.Fatal(`NewGraph("", root):`, err)
	}
	return g
}

// read reads a Graph, or fails.
func read(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := ReadGraph(strings.NewReader(text))
	if err != nil {
		t.Fatal("ReadGraph(strings.NewReader(text)):", err)
	}
	return g
}

// written returns the JSON form.
func written(t testing.TB, g *Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal("g.Write(&b):", err)
	}
	return b.String()
}

// workAndSpan are those of a part, by their definition.
func workAndSpan(p *Part) (work, span int64) {
	if p.Kind == Step {
		return p.Work, p.Work
	}
	for _, part := range p.Parts {
		w, s := workAndSpan(part)
		work += w
		if p.Kind == Series {
			span += s
		} else {
			span = max(span, s)
		}
	}
	return work, span
}

// randomPart makes a part of at most so many levels. Some of its parts are shared.
func randomPart(rng *rand.Rand, levels int, shared *[]*Part) *Part {
	if n := len(*shared); n > 0 && rng.IntN(8) == 0 {
		return (*shared)[rng.IntN(n)]
	}
	p := &Part{Kind: PartKind(rng.IntN(3))}
	if levels == 0 || p.Kind == Step {
		p.Kind, p.Work = Step, 1+rng.Int64N(9)
		if rng.IntN(5) == 0 {
			p.Name, p.Block, p.Blocks = "memory", rng.Uint64N(100), 1+rng.Int32N(9)
		}
		return p
	}
	for range 1 + rng.IntN(4) {
		p.Parts = append(p.Parts, randomPart(rng, levels-1, shared))
	}
	if rng.IntN(4) == 0 {
		*shared = append(*shared, p)
	}
	return p
}

// A graph has the work and the span of its parts, and is read as it was written.
func TestAGraphIsReadAsItWasWritten(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var shared []*Part
		root := randomPart(rng, 6, &shared)
		g := graph(t, root)
		f := facts(t, g)
		if work, span := workAndSpan(root); f.Work != work || f.Span != span {
			t.Fatalf("seed %d: work %d, span %d; want %d, %d", seed, f.Work, f.Span, work, span)
		}
		text := written(t, g)
		again := read(t, text)
		if twice := written(t, again); twice != text {
			t.Fatalf("seed %d: %s\nis read as\n%s", seed, text, twice)
		}
		if a := facts(t, again); a != f {
			t.Fatalf("seed %d: %+v is read as %+v", seed, f, a)
		}
	}
}

// The threads of a graph are those that a programmer would write: no node is there without need.
func TestThreadsOfGraphs(t *testing.T) {
	for text, want := range map[string]string{
		`{"graph":5}`: "0: 5 last",
		`{"graph":{"series":[5,{"parallel":[3,4]},2]}}`:                             "0: 5 spawns 1, 4, joins 2 last; 1: 3 last",
		`{"graph":{"parallel":[3,{"series":[4,5]}]}}`:                               "0: 0 spawns 1, 4, 5, joins 0 last; 1: 3 last",
		`{"graph":{"series":[1,{"parallel":[2,3,4]},{"parallel":[5,6]}]}}`:          "0: 1 spawns 1, 0 spawns 2, 4, joins 0 spawns 3, 6, joins 0 last; 1: 2 last; 2: 3 last; 3: 5 last",
		`{"graph":{"series":[1,{"parallel":[2,{"parallel":[3,4]}]},5]}}`:            "0: 1 spawns 1, 0 spawns 2, joins 5 last; 1: 2 last; 2: 0 spawns 3, 4, joins 0 last; 3: 3 last",
		`{"graph":{"parallel":[7]}}`:                                                "0: 7 last",
		`{"define":[{"id":"a","series":[1,2]}],"graph":{"series":[{"use":"a"},3]}}`: "0: 1, 2, 3 last",
		`{"define":[{"id":"a","series":[1,2]}],
		  "graph":{"series":[{"use":"a"},3,{"parallel":[{"use":"a"},{"use":"a"}]}]}}`: "0: 0 spawns 1, joins 3 spawns 1, 0 spawns 1, joins 0 last; 1: 1, 2 last",
	} {
		if got := threads(read(t, text)); got != want {
			t.Errorf("%s has the threads\n%s, want\n%s", text, got, want)
		}
	}
}

// threads returns the threads of a graph as text.
func threads(g *Graph) string {
	var all []string
	for i := range g.first {
		t := &Thread{Args: Args{A: uint64(i)}}
		var nodes []string
		for last := false; !last; t.PC++ {
			var n Node
			g.Node(t, &n)
			text := fmt.Sprint(n.Weight)
			if n.Join {
				text = "joins " + text
			}
			if n.Spawns {
				text += fmt.Sprint(" spawns ", n.Child.A)
			}
			if last = n.Last; last {
				text += " last"
			}
			nodes = append(nodes, text)
		}
		all = append(all, fmt.Sprintf("%d: %s", i, strings.Join(nodes, ", ")))
	}
	return strings.Join(all, "; ")
}

// What is as deep as a recording may be needs no deep stack, and is written with definitions.
func TestDeepGraphsNeedNoDeepStack(t *testing.T) {
	root := ForSteps(1)
	const levels = 20_000
	for range levels {
		root = InSeries(ForSteps(1), InParallel(ForSteps(1), root))
	}
	g := graph(t, root)
	f := facts(t, g)
	if f.Work != 2*levels+1 || f.Span != levels+1 {
		t.Errorf("facts(t, g): %+v", f)
	}
	text := written(t, g)
	if again := facts(t, read(t, text)); again != f {
		t.Errorf("%+v is read as %+v", f, again)
	}
}

// A graph that shares parts is as small as its file, however much work that is.
func TestSharedPartsAreNotCopied(t *testing.T) {
	part := InParallel(ForSteps(1), ForSteps(1))
	for range 30 {
		part = InSeries(part, part)
	}
	g := graph(t, part)
	if len(g.nodes) > 100 {
		t.Errorf("%d nodes", len(g.nodes))
	}
	part = InSeries(part, part, part, part, part, part, part, part) // 2^34
	part = InSeries(part, part, part, part, part, part, part, part)
	part = InSeries(part, part, part, part, part, part, part, part)
	graph(t, part) // 2^40
	if _, err := NewGraph("g", InParallel(part, ForSteps(1))); err == nil || !strings.Contains(err.Error(), "more than 1099511627776 steps") {
		t.Errorf("too much work: %v", err)
	}
}

func TestPartsThatCannotBeAreRefused(t *testing.T) {
	self := InSeries(ForSteps(1))
	self.Parts = append(self.Parts, InParallel(ForSteps(1), self))
	for wrong, p := range map[string]*Part{
		"no part":                nil,
		"part of itself":         self,
		"a part is nil":          InSeries(nil),
		"has no parts":           InParallel(ForSteps(1), InSeries()),
		"work of a step is 0":    ForSteps(0),
		"work of a step is -1":   InSeries(ForSteps(-1)),
		"1099511627777; it must": ForSteps(MaxWork + 1),
		"a step has parts":       {Work: 1, Parts: []*Part{ForSteps(1)}},
		"the kind 3":             {Kind: 3},
		"only steps have work":   {Kind: Series, Work: 3, Parts: []*Part{ForSteps(1)}},
		"-1 blocks from block 0": {Work: 1, Blocks: -1},
		"1048577 blocks":         {Work: 1, Blocks: MaxBlocks + 1},
	} {
		if g, err := NewGraph("g", p); err == nil || !strings.Contains(err.Error(), wrong) || g != nil {
			t.Errorf(`NewGraph("g", p): %s: %v`, wrong, err)
		}
	}
}

func TestWrongGraphsAreToldWithTheirLine(t *testing.T) {
	deep := strings.Repeat(`{"series":[`, maxNesting)
	for text, wrong := range map[string]string{
		"":                                  "line 1, column 1: the graph ends here, too early",
		"  \n ":                             "line 2, column 2: the graph ends here",
		"[":                                 "line 1, column 1: the file is a list; it must be an object",
		"null":                              "the file is null",
		`{"graph":5`:                        "line 1, column 11: the graph ends here",
		`{"graph":5]`:                       "line 1, column 11: invalid character ']'",
		`{"graph":5,}`:                      "invalid character '}'",
		`{"graph":5}}`:                      "line 1, column 12: there is more after the end",
		`{"graph":5} 6`:                     "there is more after the end",
		`{}`:                                `there is no "graph"`,
		"{\"graph\":\n {\"work\": 0}}":      `line 2, column 11: "work" is 0; it must be a whole number from 1 to 1099511627776, in digits`,
		`{"graph":-1}`:                      `column 10: "work" is -1`,
		`{"graph":1.0}`:                     `"work" is 1.0`,
		`{"graph":1e3}`:                     `"work" is 1e3`,
		`{"graph":1099511627777}`:           `"work" is 1099511627777`,
		`{"graph":99999999999999999999}`:    `"work" is 99999999999999999999`,
		`{"graph":{"work":"5"}}`:            `"work" is a string; it must be a number`,
		`{"graph":"5"}`:                     `a part is a string; it must be an object`,
		`{"graph":true}`:                    `a part is true or false`,
		`{"graph":{}}`:                      `column 10: the part has 0 of`,
		`{"graph":{"work":5,"series":[1]}}`: `the part has 2 of`,
		`{"graph":{"work":5,"work":5}}`:     `column 20: the field "work" is there twice`,
		`{"graph":5,"graph":5}`:             `the field "graph" is there twice`,
		`{"graph":{"wrok":5}}`:              `column 11: unknown field "wrok"`,
		`{"graphs":5}`:                      `unknown field "graphs"`,
		`{"graph":{"series":[]}}`:           `column 21: "series" is empty`,
		`{"graph":{"parallel":5}}`:          `"parallel" is a number; it must be a list`,
		`{"graph":{"parallel":[1 2]}}`:      `column 25: invalid character '2'`,
		`{"graph":{"parallel":[1,]}}`:       `invalid character ']'`,
		`{"graph":{"parallel":[[1]]}}`:      `a part is a list`,
		`{"graph":{"use":"a"}}`:             `there is no definition "a" before this`,
		`{"define":[{"id":"a","use":"a"}],"graph":1}`:                     `there is no definition "a" before this`,
		`{"define":[{"work":1}],"graph":1}`:                               `column 12: the definition has the "id" ""`,
		`{"define":[5],"graph":1}`:                                        `a part is a number; it must be an object`,
		`{"define":[{"id":"a","work":1},{"id":"a","work":1}],"graph":1}`:  `column 32: the definition has the "id" "a"; each must have one of its own`,
		`{"graph":1,"define":[{"id":"a","work":1}]}`:                      `"define" must come before "graph"`,
		`{"define":[],"graph":1}`:                                         `"define" is empty`,
		`{"graph":{"id":"a","work":1}}`:                                   `the part has an "id"`,
		`{"define":[{"id":"a","work":1}],"graph":{"use":"a","name":"b"}}`: `the name belongs to the definition`,
		`{"graph":{"series":[1],"block":1}}`:                              `only one with "work" may`,
		`{"graph":{"work":1,"blocks":0}}`:                                 `"blocks" is 0; it must be a whole number from 1 to 1048576`,
		`{"graph":{"work":1,"block":-1}}`:                                 `"block" is -1`,
		`{"name":5,"graph":1}`:                                            `"name" is a number; it must be a string`,
		`{"graph":` + deep:                                                `the graph ends here`,
		`{"graph":{"parallel":[1,` + deep:                                 `parts are nested more than 1000 deep; use "define"`,
		strings.Repeat("[", 1_000_000):                                    "the file is a list",
		`{"graph":` + strings.Repeat("[", 1_000_000):                      "a part is a list",
		`{"graph":` + strings.Repeat(`{"series":[`, 1e6):                  "nested more than 1000 deep",
		`{"graph":{"series":[1099511627776,1]}}`:                          "the work is more than 1099511627776 steps",
	} {
		if g, err := ReadGraph(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), wrong) || g != nil {
			t.Errorf("%.100s: %v, want %s", text, err, wrong)
		}
	}
}

// Limits are refused before they take memory.
func TestLimitsOfGraphs(t *testing.T) {
	if _, err := ReadGraph(zeros{}); err == nil || err.Error() != "sim: the graph has more than 67108864 bytes" {
		t.Errorf("an endless file: %v", err)
	}
	g := newGraphReader([]byte(`{"graph":{"series":[1,1,1,1]}}`))
	g.parts = MaxParts - 4
	if _, err := g.read(); err == nil || err.Error() != "sim: line 1, column 27: there are more than 4194304 parts" {
		t.Errorf("many parts: %v", err)
	}
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// Whatever is read does not panic. What is accepted is written and read again as the same.
func FuzzGraph(f *testing.F) {
	for _, text := range []string{
		`{"name":"g","graph":{"series":[5,{"parallel":[3,{"work":4,"name":"x","block":1,"blocks":2}]},2]}}`,
		`{"define":[{"id":"a","parallel":[1,2]}],"graph":{"series":[{"use":"a"},{"use":"a"}]}}`,
		`{"graph":{"work":5,"blocks":3}} `,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := ReadGraph(bytes.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "sim: ") {
				t.Errorf("the error %v", err)
			}
			return
		}
		first := written(t, g)
		again := read(t, first)
		if second := written(t, again); first != second {
			t.Errorf("%s\nis read as\n%s", first, second)
		}
		if bytes.Contains(text, []byte("use")) {
			return // that may be much work in few bytes
		}
		work, span := workAndSpan(g.root)
		if f := facts(t, g); f.Work != work || f.Span != span {
			t.Errorf("work %d, span %d; want %d, %d", f.Work, f.Span, work, span)
		}
	})
}
