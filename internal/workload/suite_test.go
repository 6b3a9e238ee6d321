package workload

import (
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"
)

// Strassen's product is the plain one, but for rounding: each of the levels adds up numbers that
// are a few times as large as those of the plain product.
func TestStrassenIsTheProduct(t *testing.T) {
	const n = 256
	rng := splitmix(1)
	a, b, c := newSquare(n), newSquare(n), newSquare(n)
	for i := range a.v {
		a.v[i], b.v[i] = rng.float()-0.5, rng.float()-0.5
	}
	naive := newMatrix(n)
	serialStrassen(c, a, b)
	multiplyNaively(naive, matrix{n, a.v}, matrix{n, b.v})
	for i, v := range c.v {
		if math.Abs(v-naive.v[i]) > 1e-11 {
			t.Fatalf("element %d, %d is %v, not %v", i/n, i%n, v, naive.v[i])
		}
	}
}

// The product of the factors is the matrix. It is as large as its diagonal, 64, and float32 has
// 24 bits.
func TestSparseLUGivesFactors(t *testing.T) {
	m := &blocks{n: 6}
	m.at, m.data, m.todo = make([]*block, 36), make([]block, 36), make([]int, 36)
	m.fill()
	const n = 6 * blockSide
	at := func(i, j int) float64 { return float64(m.data[i/blockSide*6+j/blockSide][i%blockSide][j%blockSide]) }
	var before [n][n]float64
	for i := range n {
		for j := range n {
			before[i][j] = at(i, j)
		}
	}
	m.factorSerially()
	for i := range n {
		for j := range n {
			sum := 0.0
			for k := range min(i, j+1) {
				sum += at(i, k) * at(k, j)
			}
			if i <= j {
				sum += at(i, j)
			}
			if math.Abs(sum-before[i][j]) > 1e-3 {
				t.Fatalf("element %d, %d is %v, want %v", i, j, sum, before[i][j])
			}
		}
	}
}

// The transform is that of the definition, at sizes that end in each kind of leaf.
func TestFFTIsTheTransform(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16, 32, 64, 128} {
		x := newTransform(n)
		serialFFT(x.whole())
		for k, got := range x.out {
			want := complex128(0)
			for j, v := range x.in {
				want += v * cmplx.Rect(1, -2*math.Pi*float64(j*k%n)/float64(n))
			}
			// Each of the log n levels adds a rounding error of 2^-53 or so to numbers of size sqrt n.
			if cmplx.Abs(got-want) > 1e-13*math.Sqrt(float64(n)) {
				t.Fatalf("n %d: number %d is %v, want %v", n, k, got, want)
			}
		}
	}
}

// Branch and bound finds what dynamic programming finds.
func TestTSPIsShortest(t *testing.T) {
	for n := 2; n <= 11; n++ {
		for seed := range splitmix(5) {
			x := newTour(n, seed)
			best := math.MaxInt
			x.search(x.start(), &best)
			if want := x.known(); best != want {
				t.Errorf("%d cities, seed %d: %d, want %d", n, seed, best, want)
			}
		}
	}
}

// known returns the answer by dynamic programming (Held and Karp, J. SIAM, 1962), in time 2^n n^2.
func (t *tour) known() int {
	n := t.n
	all := 1 << n
	least := make([]int, all*n)
	for i := range least {
		least[i] = math.MaxInt / 2
	}
	least[1*n] = 0
	for set := 1; set < all; set++ {
		for last := range n {
			if set>>last&1 == 0 {
				continue
			}
			for to := range n {
				if set>>to&1 == 0 {
					x := &least[(set|1<<to)*n+to]
					*x = min(*x, least[set*n+last]+t.apart[last][to])
				}
			}
		}
	}
	best := math.MaxInt
	for last := range n {
		best = min(best, least[(all-1)*n+last]+t.apart[last][0])
	}
	return best
}

// align is what the definition says, with gaps of all lengths tried at each place.
func TestAlignIsTheDefinition(t *testing.T) {
	p := newProteins(12)
	for i, pair := range p.pairs {
		a, b := p.all[pair[0]], p.all[pair[1]]
		a, b = a[:min(len(a), 60)], b[:min(len(b), 60)]
		if got, want := align(a, b), alignSlowly(a, b); got != want {
			t.Errorf("pair %d: %d, want %d", i, got, want)
		}
	}
	for i := range blosum62 {
		for j := range blosum62 {
			if blosum62[i][j] != blosum62[j][i] {
				t.Errorf("%d and %d are %d alike, or %d", i, j, blosum62[i][j], blosum62[j][i])
			}
		}
	}
}

func alignSlowly(a, b []byte) (best int32) {
	h := make([][]int32, len(a)+1)
	for i := range h {
		h[i] = make([]int32, len(b)+1)
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			x := max(0, h[i-1][j-1]+int32(blosum62[a[i-1]][b[j-1]]))
			for k := range i {
				x = max(x, h[k][j]-gapOpens-int32(i-k-1)*gapGrows)
			}
			for k := range j {
				x = max(x, h[i][k]-gapOpens-int32(j-k-1)*gapGrows)
			}
			h[i][j] = x
			best = max(best, x)
		}
	}
	return best
}

// A place far away counts as one body, which is right to some thousandths for most bodies.
func TestNBodyIsNearTheSum(t *testing.T) {
	s := newSpace(500)
	s.reset()
	serialPlaces(s.whole())
	s.pull(0, len(s.bodies))
	off := 0.0
	for i := range s.bodies {
		var sum, miss vector
		for j := range s.bodies {
			var to vector
			square := soft
			for d := range to {
				to[d] = s.bodies[j].at[d] - s.bodies[i].at[d]
				square += to[d] * to[d]
			}
			for d := range to {
				sum[d] += s.bodies[j].mass * to[d] / (square * math.Sqrt(square))
			}
		}
		for d, v := range s.bodies[i].pull {
			miss[d] = v - sum[d]
		}
		off += length(miss) / length(sum) / float64(len(s.bodies))
	}
	if off > 0.005 || off == 0 {
		t.Errorf("%v off", off)
	}
}

func length(v vector) float64 { return math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) }

// Levels are those that relaxing all edges comes to.
func TestBFSFindsLevels(t *testing.T) {
	g := newGraph(3000)
	g.forget()
	g.search()
	for v, level := range g.level {
		least := int32(math.MaxInt32)
		for _, u := range g.neighbours(uint32(v)) {
			least = min(least, g.level[u])
		}
		if want := least + 1; v > 0 && level != want {
			t.Fatalf("vertex %d is %d away, its neighbours at least %d", v, level, least)
		}
	}
}

// In a path, each level is a single vertex.
func TestBFSOfAPath(t *testing.T) {
	const n = 300
	g := &graph{begin: make([]uint32, n+1), level: make([]int32, n), queue: make([]uint32, n)}
	for v := range uint32(n) {
		if v > 0 {
			g.to = append(g.to, v-1)
		}
		if v < n-1 {
			g.to = append(g.to, v+1)
		}
		g.begin[v+1] = uint32(len(g.to))
	}
	g.forget()
	g.searchLevels(byGoroutines(2))
	for v, level := range g.level {
		if level != int32(v) {
			t.Fatalf("vertex %d is %d away", v, level)
		}
	}
}

// Of points that are as far from a line, only the outer ones are corners.
func TestHullOfATrapezium(t *testing.T) {
	want := []dot{{0, 0}, {3, 5}, {5, 5}, {10, 0}}
	if got := appendHull(nil, []dot{{0, 0}, {4, 5}, {3, 5}, {5, 5}, {10, 0}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Every corner of the hull has all points on one side of the way to the next, and turns.
func TestHullIsConvexAndAround(t *testing.T) {
	for _, n := range []int{1, 2, 3, 50, 3000} {
		dots := newDots(n)
		if n == 50 { // a grid, where many are in line
			for i := range dots {
				dots[i] = dot{int32(i % 7), int32(i / 7)}
			}
		}
		corners := appendHull(nil, dots)
		for i, a := range corners {
			b, c := corners[(i+1)%len(corners)], corners[(i+2)%len(corners)]
			if len(corners) > 2 && side(a, b, c) >= 0 {
				t.Errorf("%d points: no turn at corner %d", n, i)
			}
			for _, d := range dots {
				if side(a, b, d) > 0 {
					t.Fatalf("%d points: %v is outside", n, d)
				}
			}
		}
		if n == 50 && len(corners) != 4 {
			t.Errorf("corners of the grid: %v", corners)
		}
	}
}

// Parts of a text have each of its words once.
func TestPartsOfTextHaveEachWord(t *testing.T) {
	text := newText(30_000)
	var all []byte
	for i := range len(text)/partOfText + 1 {
		all = append(all, textPart(text, i)...)
	}
	if string(all) != string(text) {
		t.Error("parts are not the text")
	}
	want := map[string]int{}
	for _, word := range strings.Fields(string(text)) {
		want[word]++
	}
	got := newTally()
	got.count(text)
	if len(got.at) != len(want) {
		t.Errorf("%d different words, want %d", len(got.at), len(want))
	}
	for word, n := range want {
		if got.counts[got.at[word]] != n {
			t.Errorf("%d %s, want %d", got.counts[got.at[word]], word, n)
		}
	}
}
