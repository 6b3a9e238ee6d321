package dag

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// Write writes the Graph in its JSON form, which ReadGraph reads. Parts that are shared, or deeply nested, become
// definitions.
func (g *Graph) Write(w io.Writer) error {
	o := graphWriter{w: bufio.NewWriter(w), ids: map[*Part]string{}}
	o.put(`{`)
	if g.Name != "" {
		o.put(`"name":`)
		o.text(g.Name)
		o.put(",\n")
	}
	if defined := g.definitions(); len(defined) > 0 {
		o.put(`"define":[`)
		for i, p := range defined {
			o.separate(i)
			o.part(p, strconv.Itoa(i+1))
			o.ids[p] = strconv.Itoa(i + 1)
		}
		o.put("],\n")
	}
	o.put(`"graph":`)
	o.part(g.root, "")
	o.put("}\n")
	return o.w.Flush()
}

// definitions returns the parts that are written as definitions, each behind those that it uses.
func (g *Graph) definitions() (defined []*Part) {
	uses, _ := survey(g.root)  // NewGraph has checked it
	heights := map[*Part]int{} // of parts that are done, as far as they are written in one place
	for way := []visit{{Part: g.root}}; len(way) > 0; {
		v := &way[len(way)-1]
		if v.next < len(v.Parts) {
			part := v.Parts[v.next]
			v.next++
			if heights[part] == 0 && part.Kind != Step {
				way = append(way, visit{Part: part})
			}
			continue
		}
		height := 2
		for _, part := range v.Parts {
			height = max(height, heights[part]+1)
		}
		if v.Part != g.root && (uses[v.Part] > 1 || height >= maxNesting) {
			defined = append(defined, v.Part)
			height = 1
		}
		heights[v.Part] = height
		way = way[:len(way)-1]
	}
	return defined
}

// graphWriter writes a graph. The writer keeps the first error.
type graphWriter struct {
	w    *bufio.Writer
	ids  map[*Part]string // of definitions that are written
	line int              // how long the line is
}

func (o *graphWriter) put(s string) {
	o.w.WriteString(s)
	o.line += len(s)
}

func (o *graphWriter) text(s string) {
	b, _ := json.Marshal(s)
	o.put(string(b))
}

// separate writes a comma before all items of a list but the first, and breaks a long line.
func (o *graphWriter) separate(item int) {
	if item == 0 {
		return
	}
	o.put(",")
	if o.line > 100 {
		o.put("\n")
		o.line = 0
	}
}

// part writes a part, with an id if it is a definition.
func (o *graphWriter) part(p *Part, id string) {
	used, ok := o.ids[p]
	switch {
	case ok:
		o.put(`{"use":"` + used + `"}`)
		return
	case p.Kind == Step && p.Name == "" && p.Blocks == 0:
		o.put(strconv.FormatInt(p.Work, 10))
		return
	}
	o.put(`{`)
	if id != "" {
		o.put(`"id":"` + id + `",`)
	}
	if p.Name != "" {
		o.put(`"name":`)
		o.text(p.Name)
		o.put(`,`)
	}
	o.kind(p)
	o.put(`}`)
}

func (o *graphWriter) kind(p *Part) {
	if p.Kind == Step {
		o.put(`"work":` + strconv.FormatInt(p.Work, 10))
		if p.Blocks > 0 {
			o.put(`,"block":` + strconv.FormatUint(p.Block, 10) + `,"blocks":` + strconv.Itoa(int(p.Blocks)))
		}
		return
	}
	o.put(map[PartKind]string{Series: `"series":[`, Parallel: `"parallel":[`}[p.Kind])
	for i, part := range p.Parts {
		o.separate(i)
		o.part(part, "")
	}
	o.put(`]`)
}
