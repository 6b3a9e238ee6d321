package workload

import "fmt"

// alignment scores all pairs of proteins: local alignments with affine gaps, by Smith and
// Waterman (J. Mol. Biol., 1981) as Gotoh improved it (J. Mol. Biol., 1982).
//
// Pairs have nothing to do with one another, but some take a hundred times as long as others: so
// it is one loop of package par, without a grain.
var alignment = &Workload{
	Name:    "alignment",
	About:   "scores of all pairs of n proteins of 20 to 256 residues: skewed (BOTS)",
	Sizes:   []string{"20", "40", "100"},
	Default: []Default{{Size: "40"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("alignment", size, 2, 2000)
		if err != nil {
			return nil, err
		}
		var p *proteins
		return &Job{
			Load:   func() { p = newProteins(n) },
			Reset:  func() { clear(p.scores) },
			Answer: func() string { return p.sum() },
			Serial: func() string {
				for i := range p.pairs {
					p.score(i)
				}
				return ""
			},
			Loops: func(each Each) string { each(len(p.pairs), p.score); return "" },
		}, nil
	},
}

// longestProtein is as long as a protein gets, so that the rows of an alignment are on the stack.
const longestProtein = 256

type proteins struct {
	all    [][]byte
	pairs  [][2]uint16
	scores []int32
}

func newProteins(n int) *proteins {
	p := &proteins{}
	rng := splitmix(17)
	for range n {
		protein := make([]byte, 20+rng.below(longestProtein-20))
		for i := range protein {
			protein[i] = byte(rng.below(20))
		}
		p.all = append(p.all, protein)
	}
	for i := range n {
		for j := range i {
			p.pairs = append(p.pairs, [2]uint16{uint16(i), uint16(j)})
		}
	}
	p.scores = make([]int32, len(p.pairs))
	return p
}

func (p *proteins) score(i int) {
	p.scores[i] = align(p.all[p.pairs[i][0]], p.all[p.pairs[i][1]])
}

func (p *proteins) sum() string {
	sum, best, h := 0, int32(0), uint64(0)
	for _, s := range p.scores {
		sum += int(s)
		best = max(best, s)
		h = h*0x9e3779b97f4a7c15 + uint64(s)
	}
	return fmt.Sprintf("%d pairs, the best has %d, together %d, hash %016x", len(p.scores), best, sum, h)
}

// What a gap costs: a first residue, and each one more. With these BLAST begins.
const (
	gapOpens = 12
	gapGrows = 1
)

// align returns the score of the best local alignment of a and b.
func align(a, b []byte) int32 {
	// What ends at the residue before in a, and at each of b: any alignment, and one with a gap in b.
	var anys, gaps [longestProtein]int32
	best := int32(0)
	any, gap := anys[:len(b)], gaps[:len(b)]
	for _, x := range a {
		scores := &blosum62[x]
		var diagonal, left, across int32 // across ends with a gap in a
		for j, y := range b {
			down := max(gap[j]-gapGrows, any[j]-gapOpens)
			across = max(across-gapGrows, left-gapOpens)
			left = max(0, diagonal+int32(scores[y&31]), down, across)
			diagonal = any[j]
			any[j], gap[j] = left, down
			best = max(best, left)
		}
	}
	return best
}

// blosum62 is how alike two residues are (Henikoff and Henikoff, PNAS, 1992), in the order
// ARNDCQEGHILKMFPSTWYV. Rows are filled up to a power of two.
var blosum62 = [20][32]int8{
	{4, -1, -2, -2, 0, -1, -1, 0, -2, -1, -1, -1, -1, -2, -1, 1, 0, -3, -2, 0},
	{-1, 5, 0, -2, -3, 1, 0, -2, 0, -3, -2, 2, -1, -3, -2, -1, -1, -3, -2, -3},
	{-2, 0, 6, 1, -3, 0, 0, 0, 1, -3, -3, 0, -2, -3, -2, 1, 0, -4, -2, -3},
	{-2, -2, 1, 6, -3, 0, 2, -1, -1, -3, -4, -1, -3, -3, -1, 0, -1, -4, -3, -3},
	{0, -3, -3, -3, 9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1},
	{-1, 1, 0, 0, -3, 5, 2, -2, 0, -3, -2, 1, 0, -3, -1, 0, -1, -2, -1, -2},
	{-1, 0, 0, 2, -4, 2, 5, -2, 0, -3, -3, 1, -2, -3, -1, 0, -1, -3, -2, -2},
	{0, -2, 0, -1, -3, -2, -2, 6, -2, -4, -4, -2, -3, -3, -2, 0, -2, -2, -3, -3},
	{-2, 0, 1, -1, -3, 0, 0, -2, 8, -3, -3, -1, -2, -1, -2, -1, -2, -2, 2, -3},
	{-1, -3, -3, -3, -1, -3, -3, -4, -3, 4, 2, -3, 1, 0, -3, -2, -1, -3, -1, 3},
	{-1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4, -2, 2, 0, -3, -2, -1, -2, -1, 1},
	{-1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5, -1, -3, -1, 0, -1, -3, -2, -2},
	{-1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5, 0, -2, -1, -1, -1, -1, 1},
	{-2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6, -4, -2, -2, 1, 3, -1},
	{-1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7, -1, -1, -4, -3, -2},
	{1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4, 1, -3, -2, -2},
	{0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5, -2, -2, 0},
	{-3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11, 2, -3},
	{-2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7, -1},
	{0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4},
}
