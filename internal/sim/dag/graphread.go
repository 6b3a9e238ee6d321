package dag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// MaxGraph is how many bytes the JSON form of a Graph may have.
const MaxGraph = 64 << 20

// maxNesting is how deep parts of a graph may be nested, but for what they use.
const maxNesting = 1000

// ReadGraph reads a Graph in its JSON form, which docs/simulator.md describes. What is wrong is told with its line
// and column, both counted from 1, the column in bytes.
func ReadGraph(r io.Reader) (*Graph, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxGraph+1))
	if err != nil {
		return nil, fmt.Errorf("sim: reading the graph: %w", err)
	}
	if len(data) > MaxGraph {
		return nil, fmt.Errorf("sim: the graph has more than %d bytes", MaxGraph)
	}
	return newGraphReader(data).read()
}

func newGraphReader(data []byte) *graphReader {
	g := &graphReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), defined: map[string]*Part{}}
	g.dec.UseNumber()
	return g
}

// read reads the graph, or says where it is wrong.
func (g *graphReader) read() (*Graph, error) {
	name, root, err := g.graph()
	if err != nil {
		line := 1 + bytes.Count(g.data[:g.at], []byte("\n"))
		column := g.at - bytes.LastIndexByte(g.data[:g.at], '\n')
		return nil, fmt.Errorf("sim: line %d, column %d: %w", line, column, err)
	}
	return NewGraph(name, root)
}

// graphReader reads a graph token by token.
type graphReader struct {
	data    []byte
	dec     *json.Decoder
	at      int // where the last token begins
	defined map[string]*Part
	parts   int
	nesting int
}

// token returns the next token.
func (g *graphReader) token() (json.Token, error) {
	g.at = int(g.dec.InputOffset())
	for g.at < len(g.data) && bytes.IndexByte([]byte(" \t\r\n,:"), g.data[g.at]) >= 0 {
		g.at++
	}
	t, err := g.dec.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the graph ends here, too early")
	}
	return t, err
}

// graph reads all.
func (g *graphReader) graph() (name string, root *Part, err error) {
	t, err := g.token()
	if err != nil {
		return "", nil, err
	}
	err = g.object(t, "the file", func(key string) (err error) {
		switch key {
		case "name":
			name, err = g.text(key)
		case "define":
			if root != nil {
				return errors.New(`"define" must come before "graph"`)
			}
			err = g.list(key, g.define)
		case "graph":
			root, err = g.part()
		default:
			err = fmt.Errorf(`unknown field %q; there are "name", "define" and "graph"`, key)
		}
		return err
	})
	if err == nil && root == nil {
		err = errors.New(`there is no "graph"`)
	}
	if err == nil {
		g.at = int(g.dec.InputOffset())
		if _, more := g.dec.Token(); more != io.EOF {
			err = errors.New("there is more after the end of the graph")
		}
	}
	return name, root, err
}

// object reads an object whose first token is t. field is called for each key, and reads its value.
func (g *graphReader) object(t json.Token, what string, field func(key string) error) error {
	if t != json.Delim('{') {
		return fmt.Errorf("%s is %s; it must be an object", what, kindOf(t))
	}
	seen := map[string]bool{}
	for g.dec.More() {
		t, err := g.token()
		if err != nil {
			return err
		}
		key := t.(string) // Token has seen to it
		if seen[key] {
			return fmt.Errorf("the field %q is there twice", key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := g.token()
	return err
}

// list reads a list, which must not be empty. item reads what begins with t.
func (g *graphReader) list(what string, item func(t json.Token) error) error {
	t, err := g.token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%q is %s; it must be a list", what, kindOf(t))
	}
	for n := 0; ; n++ {
		t, err := g.token()
		switch {
		case err != nil:
			return err
		case t == json.Delim(']') && n == 0:
			return fmt.Errorf("%q is empty", what)
		case t == json.Delim(']'):
			return nil
		}
		if err := item(t); err != nil {
			return err
		}
	}
}

// define reads a part with an id.
func (g *graphReader) define(t json.Token) error {
	begin := g.at
	id, part, err := g.partOf(t, true)
	if err != nil {
		return err
	}
	if _, there := g.defined[id]; there || id == "" {
		g.at = begin
		return fmt.Errorf(`the definition has the "id" %q; each must have one of its own`, id)
	}
	g.defined[id] = part
	return nil
}

// part reads a part.
func (g *graphReader) part() (*Part, error) {
	t, err := g.token()
	if err != nil {
		return nil, err
	}
	_, part, err := g.partOf(t, false)
	return part, err
}

// partOf reads a part that begins with t: a number, or an object, which has an id if it is a definition.
func (g *graphReader) partOf(t json.Token, defines bool) (id string, p *Part, err error) {
	if g.parts++; g.parts > MaxParts {
		return "", nil, fmt.Errorf("there are more than %d parts", MaxParts)
	}
	if g.nesting++; g.nesting > maxNesting {
		return "", nil, fmt.Errorf(`parts are nested more than %d deep; use "define"`, maxNesting)
	}
	defer func() { g.nesting-- }()
	if n, ok := t.(json.Number); ok && !defines {
		work, err := whole("work", n, 1, MaxWork)
		return "", ForSteps(work), err
	}
	begin := g.at
	f := fields{graphReader: g, Part: &Part{}}
	if err := g.object(t, "a part", f.read); err != nil {
		return "", nil, err
	}
	end := g.at
	g.at = begin
	if err := f.check(defines); err != nil {
		return "", nil, err
	}
	g.at = end
	if f.used != nil {
		return f.id, f.used, nil
	}
	return f.id, f.Part, nil
}

// fields is a part that is read.
type fields struct {
	*graphReader
	*Part
	kinds   int // how many fields say what it is
	id      string
	used    *Part
	touches bool
}

// read reads the value of a field.
func (f *fields) read(key string) (err error) {
	switch key {
	case "work", "series", "parallel", "use":
		f.kinds++
	}
	var n int64
	switch key {
	case "work":
		f.Work, err = f.whole(key, 1, MaxWork)
	case "series":
		f.Kind, err = Series, f.list(key, f.branch)
	case "parallel":
		f.Kind, err = Parallel, f.list(key, f.branch)
	case "use":
		err = f.use()
	case "name":
		f.Name, err = f.text(key)
	case "id":
		f.id, err = f.text(key)
	case "block":
		n, err = f.whole(key, 0, math.MaxInt64)
		f.Block, f.touches = uint64(n), true
	case "blocks":
		n, err = f.whole(key, 1, MaxBlocks)
		f.Blocks, f.touches = int32(n), true
	default:
		err = fmt.Errorf(`unknown field %q; a part has "work", "series", "parallel" or "use", and may have "name", "block" and "blocks"`, key)
	}
	return err
}

func (f *fields) branch(t json.Token) error {
	_, part, err := f.partOf(t, false)
	f.Parts = append(f.Parts, part)
	return err
}

// use looks up a definition, which must be complete: so none uses itself.
func (f *fields) use() error {
	id, err := f.text("use")
	if err != nil {
		return err
	}
	if f.used = f.defined[id]; f.used == nil {
		return fmt.Errorf("there is no definition %q before this", id)
	}
	return nil
}

// check returns what is wrong with the fields together.
func (f *fields) check(defines bool) error {
	switch {
	case f.kinds != 1:
		return fmt.Errorf(`the part has %d of "work", "series", "parallel" and "use"; it must have one`, f.kinds)
	case f.touches && (f.Work == 0):
		return errors.New(`the part has "block" or "blocks"; only one with "work" may`)
	case f.used != nil && f.Name != "":
		return errors.New(`the part has a "use" and a "name"; the name belongs to the definition`)
	case f.id != "" && !defines:
		return errors.New(`the part has an "id"; only those in "define" may`)
	}
	if f.touches && f.Blocks == 0 {
		f.Blocks = 1
	}
	return nil
}

// text reads a string.
func (g *graphReader) text(what string) (string, error) {
	t, err := g.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%q is %s; it must be a string", what, kindOf(t))
	}
	return s, nil
}

// whole reads a whole number.
func (g *graphReader) whole(what string, least, most int64) (int64, error) {
	t, err := g.token()
	if err != nil {
		return 0, err
	}
	n, ok := t.(json.Number)
	if !ok {
		return 0, fmt.Errorf("%q is %s; it must be a number", what, kindOf(t))
	}
	return whole(what, n, least, most)
}

func whole(what string, n json.Number, least, most int64) (int64, error) {
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%q is %s; it must be a whole number from %d to %d, in digits", what, n, least, most)
	}
	return v, nil
}

// kindOf names what a token is.
func kindOf(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}
