package sssp

import (
	"math/bits"

	"github.com/filch-go/filch"
)

// Rounds is delta-stepping (Meyer and Sanders, Journal of Algorithms, 2003), without its light and heavy edges: fork-join,
// in rounds. A round relaxes all vertices at once that are in the first bucket by distance. It goes on with that bucket as
// long as vertices come into it. Between rounds one worker sorts what has come nearer into the buckets.
func Rounds(g *Graph, from uint32, s filch.Scope) (distances []uint64, work Work) {
	s.Do(func(w *filch.Worker) { distances, work = rounds(g, from, w) })
	return distances, work
}

// together is how many vertices one call relaxes.
const together = 32

// round is what workers share in a round.
type round struct {
	*search
	vertices []uint32
	nearer   [][]nearer // by part of so many vertices
	works    []Work
}

// nearer is a vertex with a shorter distance, and its bucket.
type nearer struct {
	bucket int
	vertex uint32
}

func rounds(g *Graph, from uint32, w *filch.Worker) ([]uint64, Work) {
	r := &round{search: newSearch(g, from)}
	r.shift = uint(bits.Len64(g.weights() / uint64(len(g.edges)+1))) // a bucket for about a mean weight
	buckets := [][]uint32{{from}}
	for at := 0; at < len(buckets); {
		r.vertices, buckets[at] = buckets[at], nil
		if len(r.vertices) == 0 {
			at++
			continue
		}
		parts := (len(r.vertices) + together - 1) / together
		for len(r.nearer) < parts {
			r.nearer, r.works = append(r.nearer, nil), append(r.works, Work{})
		}
		relaxParts.Call(w, span{r, 0, parts})
		for _, some := range r.nearer[:parts] {
			for _, n := range some {
				for len(buckets) <= n.bucket {
					buckets = append(buckets, nil)
				}
				buckets[n.bucket] = append(buckets[n.bucket], n.vertex)
			}
		}
	}
	return r.distances(), sum(r.works)
}

// span is a range of parts of a round.
type span struct {
	*round
	begin, end int
}

var relaxParts = filch.NewFunc(relaxPartsBody)

func relaxPartsBody(f *filch.Frame[span, struct{}], p span) struct{} {
	if p.end-p.begin == 1 {
		p.relaxPart(p.begin)
		return struct{}{}
	}
	mid := (p.begin + p.end) / 2
	h := f.Fork(span{p.round, mid, p.end})
	relaxPartsBody(f, span{p.round, p.begin, mid})
	return f.Join(h)
}

// relaxPart relaxes the vertices of part i, and notes what comes nearer.
func (r *round) relaxPart(i int) {
	found := r.nearer[i][:0]
	push := func(bucket int, v uint32) { found = append(found, nearer{bucket, v}) }
	for _, v := range r.vertices[i*together : min((i+1)*together, len(r.vertices))] {
		r.relax(v, &r.works[i], push)
	}
	r.nearer[i] = found
}
