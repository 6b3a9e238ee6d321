package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func measureCaches() caches {
	c := caches{Levels: cacheLevels(), HandOver: handOver(), Kind: "loads: median of rounds of 5,000; hand-over: least of 200 rounds"}
	for size := int64(8 << 10); size <= 64<<20; size *= 2 {
		c.Loads = append(c.Loads, load{size, chase(size)})
	}
	return c
}

// cacheLevels returns the caches of data of the first processor, where Linux tells of them.
func cacheLevels() (all []cacheLevel) {
	for i := 0; ; i++ {
		get := func(name string) string {
			b, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name))
			return strings.TrimSpace(string(b))
		}
		kind := get("type")
		if kind == "" {
			return all
		}
		level, _ := strconv.Atoi(get("level"))
		kb, err := strconv.ParseInt(strings.TrimSuffix(get("size"), "K"), 10, 64)
		if kind == "Instruction" || err != nil {
			continue
		}
		cpus := 1
		if _, more, ok := strings.Cut(get("shared_cpu_list"), "-"); ok {
			last, _ := strconv.Atoi(more)
			cpus = last + 1
		}
		all = append(all, cacheLevel{level, kb << 10, cpus})
	}
}

// chase returns what a load takes that goes through size bytes in a circle without order, one in
// each cache line, in nanoseconds: the median of rounds of 5,000, most of which nothing interrupts.
func chase(size int64) float64 {
	const line = 8 // words
	words := make([]uint64, size/8)
	n := len(words) / line
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i, at := range order {
		words[at*line] = uint64(order[(i+1)%n] * line)
	}
	const loads = 5_000
	var took []time.Duration
	at := uint64(0)
	for i := range max(2*n/loads, 200) {
		start := time.Now()
		for range loads {
			at = words[at]
		}
		if end := time.Since(start); i*loads >= n { // all are where they can be
			took = append(took, end)
		}
	}
	if at > uint64(len(words)) {
		panic("out of the circle")
	}
	slices.Sort(took)
	return float64(took[len(took)/2]) / loads
}

// handOver returns half of the time in which a word that one goroutine stores is answered by another.
func handOver() float64 {
	const turns, rounds = 2000, 200
	var ping, pong struct {
		atomic.Int64
		_ [120]byte
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		for i := int64(1); i <= turns*rounds; i++ {
			for ping.Load() < i {
			}
			pong.Store(i)
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	i := int64(0)
	for range rounds {
		start := time.Now()
		for range turns {
			i++
			ping.Store(i)
			for pong.Load() < i {
			}
		}
		least = min(least, time.Since(start))
	}
	wg.Wait()
	return float64(least) / turns / 2
}
