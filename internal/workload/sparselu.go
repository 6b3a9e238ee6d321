package workload

import (
	"fmt"
	"math"
)

// sparselu factors a sparse matrix of blocks into L and U, without pivoting, in place.
//
// Its phases depend on one another, and what is in them does not: so it is loops of package par.
// Each block takes the same operations in the same order in all forms, so that results are equal
// to the last bit.
var sparselu = &Workload{
	Name:    "sparselu",
	About:   "LU factors of n x n blocks of 32 x 32 float32, many of them empty (BOTS)",
	Sizes:   []string{"10", "20", "30"},
	Default: []Default{{Size: "30"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("sparselu", size, 1, 128)
		if err != nil {
			return nil, err
		}
		m := &blocks{n: n}
		return &Job{
			Load:   func() { m.at, m.data, m.todo = make([]*block, n*n), make([]block, n*n), make([]int, n*n) },
			Reset:  func() { m.fill() },
			Answer: func() string { return m.sum() },
			Serial: func() string { m.factorSerially(); return "" },
			Loops:  func(each Each) string { m.factor(each); return "" },
		}, nil
	},
}

// blockSide is the side of a block.
const blockSide = 32

type block [blockSide][blockSide]float32

// blocks is a matrix of n x n blocks, of which those that are empty are nil.
type blocks struct {
	n    int
	at   []*block // which are not empty
	data []block  // all, so that nothing need be allocated
	todo []int    // blocks that a phase works on
}

// fill makes up the matrix. The pattern of empty blocks and the numbers are those of the
// Barcelona suite.
func (m *blocks) fill() {
	clear(m.at)
	clear(m.data)
	x := 1325
	for i := range m.n {
		for j := range m.n {
			empty := i < j && i%3 != 0 || i > j && j%3 != 0 || i%2 == 1 || j%2 == 1
			if i == j || i == j-1 || i-1 == j {
				empty = false
			}
			if empty {
				continue
			}
			b := m.make(i, j)
			for r := range b {
				for c := range b[r] {
					x = 3125 * x % 65536
					b[r][c] = float32(x-32768) / 16384
				}
			}
			if i == j {
				for r := range b {
					b[r][r] += 64 // so that no pivoting is needed
				}
			}
		}
	}
}

func (m *blocks) get(i, j int) *block { return m.at[i*m.n+j] }

// make returns a block, of zeros if it was empty.
func (m *blocks) make(i, j int) *block {
	b := &m.data[i*m.n+j]
	m.at[i*m.n+j] = b
	return b
}

func (m *blocks) sum() string {
	h, full := uint64(0), 0
	for _, b := range m.at {
		if b == nil {
			continue
		}
		full++
		for r := range b {
			for _, v := range b[r] {
				h = h*0x9e3779b97f4a7c15 + uint64(math.Float32bits(v))
			}
		}
	}
	return fmt.Sprintf("%d of %d blocks, sum of bits %016x", full, len(m.at), h)
}

func (m *blocks) factorSerially() {
	for k := range m.n {
		pivot := m.get(k, k)
		pivot.factor()
		for j := k + 1; j < m.n; j++ {
			if b := m.get(k, j); b != nil {
				b.forward(pivot)
			}
		}
		for i := k + 1; i < m.n; i++ {
			left := m.get(i, k)
			if left == nil {
				continue
			}
			left.divide(pivot)
			for j := k + 1; j < m.n; j++ {
				if above := m.get(k, j); above != nil {
					m.make(i, j).subtract(left, above)
				}
			}
		}
	}
}

// factor is the same in two phases for each k: the row and the column of the pivot, and then all
// blocks that depend on them.
func (m *blocks) factor(each Each) {
	for k := range m.n {
		pivot := m.get(k, k)
		pivot.factor()
		edge := m.todo[:0]
		for i := k + 1; i < m.n; i++ {
			if m.get(k, i) != nil {
				edge = append(edge, k*m.n+i)
			}
			if m.get(i, k) != nil {
				edge = append(edge, i*m.n+k)
			}
		}
		each(len(edge), func(e int) {
			if b := m.at[edge[e]]; edge[e]/m.n == k {
				b.forward(pivot)
			} else {
				b.divide(pivot)
			}
		})
		rest := m.todo[:0]
		for i := k + 1; i < m.n; i++ {
			for j := k + 1; j < m.n; j++ {
				if m.get(i, k) != nil && m.get(k, j) != nil {
					rest = append(rest, i*m.n+j)
				}
			}
		}
		each(len(rest), func(e int) {
			i, j := rest[e]/m.n, rest[e]%m.n
			m.make(i, j).subtract(m.get(i, k), m.get(k, j))
		})
	}
}

// factor replaces b by its L and U.
func (b *block) factor() {
	for k := range b {
		for i := k + 1; i < blockSide; i++ {
			x := b[i][k] / b[k][k]
			b[i][k] = x
			for j := k + 1; j < blockSide; j++ {
				b[i][j] -= x * b[k][j]
			}
		}
	}
}

// forward multiplies b by the inverse of the L of a pivot, from the left.
func (b *block) forward(pivot *block) {
	for k := range pivot {
		from := &b[k]
		for i := k + 1; i < blockSide; i++ {
			x, to := pivot[i][k], &b[i]
			for j := range to {
				to[j] -= x * from[j]
			}
		}
	}
}

// divide multiplies b by the inverse of the U of a pivot, from the right.
func (b *block) divide(pivot *block) {
	for i := range b {
		row := &b[i]
		for k := range row {
			x := row[k] / pivot[k][k]
			row[k] = x
			for j := k + 1; j < blockSide; j++ {
				row[j] -= x * pivot[k][j]
			}
		}
	}
}

// subtract takes left times above from b. It goes through the factors with two rows and four
// columns at a time, with eight sums, which are as many as the processor has registers for.
func (b *block) subtract(left, above *block) {
	for i := 0; i < blockSide; i += 2 {
		x, y := &left[i], &left[i+1]
		for j := 0; j < blockSide; j += 4 {
			var s0, s1, s2, s3, t0, t1, t2, t3 float32
			for k := range above {
				c := (*[4]float32)(above[k][j:])
				xk, yk := x[k], y[k]
				s0 += xk * c[0]
				s1 += xk * c[1]
				s2 += xk * c[2]
				s3 += xk * c[3]
				t0 += yk * c[0]
				t1 += yk * c[1]
				t2 += yk * c[2]
				t3 += yk * c[3]
			}
			s, t := (*[4]float32)(b[i][j:]), (*[4]float32)(b[i+1][j:])
			s[0] -= s0
			s[1] -= s1
			s[2] -= s2
			s[3] -= s3
			t[0] -= t0
			t[1] -= t1
			t[2] -= t2
			t[3] -= t3
		}
	}
}
