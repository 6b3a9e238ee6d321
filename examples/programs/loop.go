package main

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// twins counts, for each fingerprint of a text, the later ones that differ in at most three bits.
func twins(p *filch.Pool, prints []uint64) []int {
	counts := make([]int, len(prints))
	par.For(p, len(prints), func(i int) { counts[i] = twinsOf(prints, i) })
	return counts
}

// twinsOf takes the less time, the greater i is.
func twinsOf(prints []uint64, i int) (n int) {
	for _, other := range prints[i+1:] {
		if bits.OnesCount64(prints[i]^other) <= 3 {
			n++
		}
	}
	return n
}

func twinsSerial(prints []uint64) []int {
	counts := make([]int, len(prints))
	for i := range prints {
		counts[i] = twinsOf(prints, i)
	}
	return counts
}

// twinsGoroutines starts a goroutine for each processor, with an equal number of fingerprints.
func twinsGoroutines(prints []uint64) []int {
	counts := make([]int, len(prints))
	var wg sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		lo := part * len(prints) / runtime.GOMAXPROCS(0)
		hi := (part + 1) * len(prints) / runtime.GOMAXPROCS(0)
		wg.Go(func() {
			for i := lo; i < hi; i++ {
				counts[i] = twinsOf(prints, i)
			}
		})
	}
	wg.Wait()
	return counts
}

func makeLoop(p *filch.Pool, small bool) forms {
	prints := make([]uint64, 10_000)
	if small {
		prints = prints[:300]
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range prints {
		prints[i] = r.Uint64()
		if i%3 == 2 {
			prints[i] = prints[i-1] ^ 1<<r.IntN(64) // a text that was changed a little
		}
	}
	sum := func(counts []int) (n int, err error) {
		for i, c := range counts {
			n += (i + 1) * c
		}
		return n, nil
	}
	return forms{
		serial:     func() (any, error) { return sum(twinsSerial(prints)) },
		goroutines: func() (any, error) { return sum(twinsGoroutines(prints)) },
		filch:      func() (any, error) { return sum(twins(p, prints)) },
	}
}
