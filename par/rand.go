package par

import (
	"fmt"
	"math/bits"
)

// Rand is a sequence of random numbers for an index. It depends on nothing but a seed and the index. So what
// bodies draw is the same on any number of workers, and in a plain loop. It is a value: to make one allocates
// nothing, and takes next to no time.
//
//	par.For(s, n, func(i int) {
//		r := par.NewRand(seed, i)
//		x[i] = r.Float64()
//	})
//
// What is made of them may still differ: [ReduceInto] adds in an order that depends on chance, which the sum of
// floating-point numbers shows. [MapReduce] and [ReduceRange] always add in the same order.
//
// A *Rand is a Source of math/rand/v2: rand.New(&r) has all other distributions, but allocates. To allocate
// once for a range of indices, assign to the same variable: r = par.NewRand(seed, i). A Rand must not be used
// by two goroutines at the same time. A copy goes on from where the Rand was.
//
// The numbers are those of Philox2x64-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011), which passes BigCrush. The seed is its key; the index and the number of the block are its
// counter, which it encrypts. So with one seed, no two indices have a block of 128 bits in common. The numbers
// of a seed and an index will not change. They are not for secrets. One takes little longer than one of
// rand.PCG.
//
// The zero Rand is that of seed 0 and index 0.
type Rand struct {
	seed, index uint64
	blocks      uint64 // that have been made
	next        uint64 // the second half of the last block, if half is set
	half        bool
}

// NewRand returns the Rand of an index. Any seed and any index will do, also neighbouring ones. If a body draws
// for several purposes, give each a seed of its own.
func NewRand(seed uint64, i int) Rand { return Rand{seed: seed, index: uint64(i)} }

// Uint64 returns the next 64 bits. There are 2^65 numbers before they repeat.
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

// Float64 returns a number of [0, 1): a multiple of 2^-53, each equally likely.
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// IntN returns a number of 0 to n-1, each equally likely. It panics if n is less than 1.
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
