package sssp

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGraphsAreReadAndWrongLinesAreTold(t *testing.T) {
	g, err := Read(strings.NewReader("c a comment\np sp 3 2\n\na 1 2 5\nc another\na 2 3 7\n"))
	if err != nil {
		t.Fatal("Read(…):", err)
	}
	if got := Heap(g, 0); !slices.Equal(got, []uint64{0, 5, 12}) {
		t.Error("Heap(g, 0):", got)
	}
	for text, want := range map[string]string{
		"":                           `no line "p sp vertices arcs"`,
		"p sp 0 0":                   `line 1: "p sp 0 0" has no vertex`,
		"p sp 3 2\na 1 2 5":          "1 arcs, not the 2 that the line p says",
		"a 1 2 5":                    `line 1: "a 1 2 5" comes before the line p`,
		"p sp 3 1\na 1 4 5":          `line 2: "a 1 4 5" has a vertex that is not from 1 to 3`,
		"p sp 3 1\na 0 1 5":          `line 2: "a 0 1 5" has a vertex that is not from 1 to 3`,
		"p sp 3 1\na 1 2 -5":         `line 2: "a 1 2 -5" has what is no number from 0 to 2147483647`,
		"p sp 3 1\na 1 2":            `line 2: "a 1 2" is neither "p sp vertices arcs" nor "a from to weight" nor a comment`,
		"p sp 3 1\np sp 3 1":         `line 2: "p sp 3 1" comes a second time`,
		"p max 3 1":                  `line 1: "p max 3 1" is neither "p sp vertices arcs" nor "a from to weight" nor a comment`,
		"p sp 2147483647 0":          `line 1: "p sp 2147483647 0" has more vertices than 100000000`,
		"b 1 2 3":                    `line 1: "b 1 2 3" is neither "p sp vertices arcs" nor "a from to weight" nor a comment`,
		"hello":                      `line 1: "hello" is neither "p sp vertices arcs" nor "a from to weight" nor a comment`,
		"p sp 100000000 1":           `line 1: "p sp 100000000 1" has more than 1048576 vertices, and more than 16 for each arc`,
		"p sp 3 1000000001":          `line 1: "p sp 3 1000000001" has more arcs than 1000000000`,
		"p sp 3 1\na 1 2 5\na 2 3 5": `line 3: "a 2 3 5" is one more than the 1 arcs that the line p says`,
		"p sp 3 1\na 1 2 4294967296": `line 2: "a 1 2 4294967296" has what is no number from 0 to 2147483647`,
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// endless is a beginning, and then the same line again and again, up to 64 MB.
type endless struct {
	head string
	line string
	read int // bytes that were taken of it
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 64<<20 {
		return 0, io.EOF
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		if e.head == "" {
			e.head = e.line
		}
		k := copy(p[n:], e.head)
		e.head = e.head[k:]
		n += k
	}
	e.read += n
	return n, nil
}

// What is wrong with a file is found as soon as it is read, and not at its end.
func TestReadStopsAtTheFirstLineThatIsWrong(t *testing.T) {
	for want, in := range map[string]*endless{
		`line 4: "a 1 2 5" is one more than the 2 arcs that the line p says`:                                                {head: "p sp 3 2\n", line: "a 1 2 5\n"},
		`line 1: "p sp 2000000000 2" has more vertices than 100000000`:                                                      {head: "p sp 2000000000 2\n", line: "a 1 2 5\n"},
		`line 1: "p sp 3 2000000000" has more arcs than 1000000000`:                                                         {head: "p sp 3 2000000000\n", line: "a 1 2 5\n"},
		`line 2 is longer than 65535 bytes`:                                                                                 {head: "p sp 3 2\nc", line: "omment"},
		`line 2: "a` + strings.Repeat(" 1", 39) + ` " is neither "p sp vertices arcs" nor "a from to weight" nor a comment`: {head: "p sp 3 2\na", line: strings.Repeat(" 1", 10_000) + "\n"},
	} {
		if _, err := Read(in); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if in.read > 2*maxLine {
			t.Errorf("%s: only after %d bytes", want, in.read)
		}
	}
}

// The longest line that may be is read, with its end or without.
func TestReadLongLines(t *testing.T) {
	comment := strings.Repeat("c", maxLine-1)
	for _, text := range []string{"p sp 1 0\n" + comment, "p sp 1 0\n" + comment + "\n", comment + "\np sp 1 0\n"} {
		if g, err := Read(strings.NewReader(text)); err != nil || g.Vertices() != 1 {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

// What a file says that it has takes no memory before it is there.
func TestReadAllocatesForWhatIsThereOnly(t *testing.T) {
	for _, text := range []string{"p sp 100000000 1000000000\na 1 2 3\n", "p sp 100000000 0\n", "p sp 100000000 6249999\n", "p sp 1048576 1000000000\n"} {
		var err error
		if took := allocated(func() { _, err = Read(strings.NewReader(text)) }); err == nil || took > 1<<20 {
			t.Errorf("%q: %d bytes; %v", text, took, err)
		}
	}
	// Isolated vertices are no mistake, but there must be something else.
	text := "p sp 1600000 100000\n" + strings.Repeat("a 1 2 3\n", 100_000)
	if g, err := Read(strings.NewReader(text)); err != nil || g.Vertices() != 1_600_000 || g.Edges() != 100_000 {
		t.Errorf("Read(strings.NewReader(text)): %v", err)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Whatever the input is, Read returns a graph that programs can run on, or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte("c a comment\np sp 3 2\n\na 1 2 5\na 2 3 7\n"))
	f.Add([]byte("p sp 1048577 65537\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if lines := bytes.Count(text, []byte("\n")) + 1; g.Vertices() < 1 || g.Edges() >= lines {
			t.Errorf("%d vertices, %d edges of %d lines", g.Vertices(), g.Edges(), lines)
		}
		if g.Vertices() < 1000 {
			Heap(g, 0)
		}
	})
}
