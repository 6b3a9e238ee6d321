package par

import (
	"fmt"
	"math/bits"
)

// Rand is a sequence of random numbers that depends only on a seed and an index, so bodies draw the same numbers on any
// number of workers, and in a plain loop. It is a value: making one allocates nothing and takes next to no time. The
// zero Rand is that of seed 0 and index 0.
//
//	par.For(s, n, func(i int) {
//		r := par.NewRand(seed, i)
//		x[i] = r.Float64()
//	})
//
// Results computed from the numbers may still differ: [ReduceInto] adds in an order that depends on chance, which shows
// in floating-point sums. [MapReduce] and [ReduceRange] always add in the same order.
//
// A *Rand is a Source of math/rand/v2: rand.New(&r) has all other distributions, but allocates. To allocate once for a
// range of indices, assign to the same variable: r = par.NewRand(seed, i). Two goroutines must not use a Rand at the
// same time. A copy continues from where the Rand was.
//
// The generator is Philox2x64-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
// which passes BigCrush. Its key is the seed; the counter that it encrypts is the index and the block number, so with
// one seed no two indices share a block of 128 bits. The numbers of a seed and an index will not change. They are not
// for secrets. A number takes little longer than one of rand.PCG.
type Rand struct {
	seed, index uint64
	blocks      uint64 // made so far
	next        uint64 // the second half of the last block, if half is set
	half        bool
}

// NewRand returns the Rand of an index. Any seed and index will do, including neighbouring ones. A body that draws for
// several purposes should give each a seed of its own.
func NewRand(seed uint64, i int) Rand { return Rand{seed: seed, index: uint64(i)} }

// Uint64 returns the next 64 bits. The sequence has 2^65 numbers before it repeats.
func (r *Rand) Uint64() uint64 {
	if r.half {
		r.half = false
		return r.next
	}
	var v uint64
	v, r.next = philox(r.blocks, r.index, r.seed)
	r.blocks++
	r.half = true
	return v
}

// philox is Philox2x64-10.
func philox(a, b, key uint64) (uint64, uint64) {
	for range 10 {
		hi, lo := bits.Mul64(0xD2B74407B1CE6E93, a)
		a, b = hi^key^b, lo
		key += 0x9E3779B97F4A7C15
	}
	return a, b
}

// Float64 returns a multiple of 2^-53 in [0, 1), each equally likely.
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// IntN returns a number from 0 to n-1, each equally likely. It panics if n is less than 1.
func (r *Rand) IntN(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("par: Rand.IntN: n is %d, and must be at least 1", n))
	}
	// Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019.
	hi, lo := bits.Mul64(r.Uint64(), uint64(n))
	if lo < uint64(n) {
		for least := -uint64(n) % uint64(n); lo < least; {
			hi, lo = bits.Mul64(r.Uint64(), uint64(n))
		}
	}
	return int(hi)
}
