package sssp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// What a file may ask for. The line p is a claim: nothing is allocated for it, and
// memory grows with the arcs that have been read.
const (
	maxLine     = 1 << 16       // bytes in a line
	maxVertices = 100_000_000   // whose distances take 2 GB in the parallel programs
	maxArcs     = 1_000_000_000 // which take 12 GB while they are read
	// An arc takes at least 8 bytes of the file, so a graph takes at most as much memory
	// as 16 of its vertices for each arc do. A small graph may have any number.
	maxVerticesPerArc = 16
	smallGraph        = 1 << 20
)

// Read reads a graph in the format of the 9th DIMACS implementation challenge: lines
// "p sp <vertices> <arcs>" once, then "a <from> <to> <weight>", vertices counted from
// 1, and "c" for comments. It stops at the first line that is wrong, and the error
// names that line: one that is longer than 65,535 bytes, a line p with more than
// 100,000,000 vertices or 1,000,000,000 arcs, or, beyond 1,048,576 vertices, more than
// 16 for each arc, and an arc beyond those that the line p declares. The memory that it
// takes is bounded by what it has read.
func Read(in io.Reader) (*Graph, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, maxLine), maxLine)
	r := reader{vertices: -1}
	n := 1
	for ; lines.Scan(); n++ {
		if what := r.line(lines.Bytes()); what != "" {
			return nil, fmt.Errorf("line %d: %q %s", n, start(lines.Bytes()), what)
		}
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d is longer than %d bytes", n, maxLine-1)
	case lines.Err() != nil:
		return nil, fmt.Errorf("line %d: %w", n, lines.Err())
	case r.vertices < 0:
		return nil, errors.New(`no line "p sp vertices arcs"`)
	case len(r.arcs) < r.declared:
		return nil, fmt.Errorf("%d arcs, not the %d that the line p says", len(r.arcs), r.declared)
	}
	return newGraph(r.vertices, r.arcs), nil
}

// start returns as much of a line as an error shows.
func start(line []byte) []byte { return line[:min(len(line), 80)] }

// reader is what has been read.
type reader struct {
	vertices int // that the line p says; -1 before it
	declared int // arcs that it says
	arcs     []arc
}

// line takes a line, and returns what is wrong with it, or "".
func (r *reader) line(line []byte) (wrong string) {
	fields := bytes.Fields(line)
	switch {
	case len(fields) == 0 || fields[0][0] == 'c':
		return ""
	case len(fields) == 4 && string(fields[0]) == "p" && string(fields[1]) == "sp":
		return r.problem(fields[2:])
	case len(fields) == 4 && string(fields[0]) == "a":
		return r.arc(fields[1:])
	default:
		return `is neither "p sp vertices arcs" nor "a from to weight" nor a comment`
	}
}

// problem takes the numbers of the line p.
func (r *reader) problem(fields [][]byte) (wrong string) {
	if r.vertices >= 0 {
		return "comes a second time"
	}
	var n [2]int
	switch {
	case !parse(n[:], fields):
		return noNumber
	case n[0] == 0:
		return "has no vertex"
	case n[0] > maxVertices:
		return fmt.Sprintf("has more vertices than %d", maxVertices)
	case n[1] > maxArcs:
		return fmt.Sprintf("has more arcs than %d", maxArcs)
	case n[0] > smallGraph && n[0]/maxVerticesPerArc > n[1]:
		return fmt.Sprintf("has more than %d vertices, and more than %d for each arc", smallGraph, maxVerticesPerArc)
	}
	r.vertices, r.declared = n[0], n[1]
	return ""
}

// arc takes the numbers of a line a.
func (r *reader) arc(fields [][]byte) (wrong string) {
	switch {
	case r.vertices < 0:
		return "comes before the line p"
	case len(r.arcs) == r.declared:
		return fmt.Sprintf("is one more than the %d arcs that the line p says", r.declared)
	}
	var n [3]int
	if !parse(n[:], fields) {
		return noNumber
	}
	from, to := n[0], n[1]
	if from < 1 || to < 1 || from > r.vertices || to > r.vertices {
		return fmt.Sprintf("has a vertex that is not from 1 to %d", r.vertices)
	}
	r.arcs = append(r.arcs, arc{uint32(from - 1), edge{uint32(to - 1), uint32(n[2])}})
	return ""
}

const noNumber = "has what is no number from 0 to 2147483647"

// parse reads a number of 31 bits from each field.
func parse(numbers []int, fields [][]byte) bool {
	for i := range numbers {
		n, err := strconv.ParseUint(string(fields[i]), 10, 31)
		if err != nil {
			return false
		}
		numbers[i] = int(n)
	}
	return true
}
