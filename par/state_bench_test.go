//go:build unix

package par

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// cpuTime returns the processor time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// againstSerial runs programs in turn, the serial one first, and reports what processor time and what time
// the others take by the least of each, as parts of what the serial one takes.
func againstSerial(b *testing.B, names []string, programs ...func()) {
	cpu, took := make([]float64, len(programs)), make([]float64, len(programs))
	for i := range programs {
		cpu[i], took[i] = math.Inf(1), math.Inf(1)
	}
	for b.Loop() {
		for i, f := range programs {
			begin, used := time.Now(), cpuTime()
			f()
			cpu[i] = min(cpu[i], float64(cpuTime()-used))
			took[i] = min(took[i], float64(time.Since(begin)))
		}
	}
	b.ReportMetric(cpu[0]/1e6, "serial-cpu-ms")
	for i, name := range names {
		b.ReportMetric(cpu[i+1]/cpu[0], name+"-of-serial-cpu")
		b.ReportMetric(took[i+1]/took[0], name+"-of-serial-time")
	}
	b.ReportMetric(0, "ns/op")
}

// A corpus has texts of some ten to some ten thousand words, of which few are frequent.
func corpus(words int) (texts []string) {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 5, 60_000)
	vocabulary := make([]string, 60_001)
	for i := range vocabulary {
		b := make([]byte, 2+r.IntN(9))
		for k := range b {
			b[k] = 'a' + byte(r.IntN(26))
		}
		vocabulary[i] = string(b)
	}
	for words > 0 {
		n := min(words, 1<<(4+r.IntN(10)))
		words -= n
		var b strings.Builder
		for range n {
			b.WriteString(vocabulary[z.Uint64()])
			b.WriteByte(" \n"[r.IntN(10)/9])
		}
		texts = append(texts, b.String())
	}
	return texts
}

type wordCounts map[string]int

func (c wordCounts) add(text string) {
	for word := range strings.FieldsSeq(text) {
		c[word]++
	}
}

func (c wordCounts) merge(other wordCounts) {
	for word, n := range other {
		c[word] += n
	}
}

func wordsSerial(texts []string) wordCounts {
	c := wordCounts{}
	for _, text := range texts {
		c.add(text)
	}
	return c
}

func wordsInto(s filch.Scope, texts []string) wordCounts {
	return *ReduceInto(s, len(texts),
		func() *wordCounts { return &wordCounts{} },
		func(c *wordCounts, i int) { c.add(texts[i]) },
		func(into, from *wordCounts) { into.merge(*from) })
}

// wordsByHand has a goroutine a worker, and a map each.
func wordsByHand(workers int, texts []string) wordCounts {
	all := make([]wordCounts, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			all[w] = wordCounts{}
			for i := next.Add(1) - 1; i < int64(len(texts)); i = next.Add(1) - 1 {
				all[w].add(texts[i])
			}
		})
	}
	wg.Wait()
	for _, c := range all[1:] {
		all[0].merge(c)
	}
	return all[0]
}

// wordsPerText has a map a text.
func wordsPerText(s filch.Scope, texts []string) wordCounts {
	return MapReduce(s, texts, wordCounts{}, func(text string) wordCounts {
		c := wordCounts{}
		c.add(text)
		return c
	}, func(a, b wordCounts) wordCounts {
		if len(a) < len(b) {
			a, b = b, a
		}
		a.merge(b)
		return a
	})
}

// Words of a corpus are counted in a map for each worker.
func BenchmarkWords(b *testing.B) {
	texts := corpus(3_000_000)
	want := wordsSerial(texts)
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		check := func(c wordCounts) {
			if !maps.Equal(c, want) {
				b.Fatal("the counts are wrong")
			}
		}
		check(wordsInto(p, texts))
		check(wordsByHand(workers, texts))
		check(wordsPerText(p, texts))
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			againstSerial(b, []string{"ReduceInto", "by-hand", "MapReduce"}, func() { wordsSerial(texts) }, func() { wordsInto(p, texts) },
				func() { wordsByHand(workers, texts) }, func() { wordsPerText(p, texts) })
		})
		p.Close()
	}
}

type point struct{ x, y float64 }

// side is positive if p is left of the line from a to b, the more the farther it is.
func side(a, b, p point) float64 { return (b.x-a.x)*(p.y-a.y) - (b.y-a.y)*(p.x-a.x) }

// leftOf appends the points that are left of the line from a to b.
func leftOf(out, points []point, a, b point) []point {
	for _, p := range points {
		if side(a, b, p) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// farthest returns the point that is farthest to the left of the line from a to b.
func farthest(points []point, a, b point) point {
	most, far := math.Inf(-1), point{}
	for _, p := range points {
		if d := side(a, b, p); d > most {
			most, far = d, p
		}
	}
	return far
}

func byX(p, q point) int {
	switch {
	case p.x < q.x:
		return -1
	case p.x > q.x:
		return 1
	}
	return 0
}

// hullSerial returns the convex hull, from the point that is farthest to the left on (Eddy 1977; Bykat 1978).
func hullSerial(points []point) []point {
	least, most := slices.MinFunc(points, byX), slices.MaxFunc(points, byX)
	hull := append([]point{least}, hullOf(leftOf(nil, points, least, most), least, most)...)
	return append(append(hull, most), hullOf(leftOf(nil, points, most, least), most, least)...)
}

// hullOf returns what is on the hull of points between a and b, all of which are left of that line.
func hullOf(points []point, a, b point) []point {
	if len(points) == 0 {
		return nil
	}
	c := farthest(points, a, b)
	hull := append(hullOf(leftOf(nil, points, a, c), a, c), c)
	return append(hull, hullOf(leftOf(nil, points, c, b), c, b)...)
}

// hullInParallel is serial for few points.
func hullInParallel(s filch.Scope, points []point, few int) (hull []point) {
	s.Do(func(w *filch.Worker) {
		least, most, _ := MinMaxFunc(w, points, byX)
		var upper, lower []point
		w.Join(func(w *filch.Worker) {
			upper = hullOfInParallel(w, collectLeft(w, points, least, most), few, least, most)
		},
			func(w *filch.Worker) {
				lower = hullOfInParallel(w, collectLeft(w, points, most, least), few, most, least)
			})
		hull = append(append(append([]point{least}, upper...), most), lower...)
	})
	return hull
}

func collectLeft(w *filch.Worker, points []point, a, b point) []point {
	return Collect(w, len(points), func(lo, hi int, out []point) []point { return leftOf(out, points[lo:hi], a, b) })
}

func hullOfInParallel(w *filch.Worker, points []point, few int, a, b point) []point {
	if len(points) <= few {
		return hullOf(points, a, b)
	}
	c := ReduceRange(w, len(points), point{}, func(lo, hi int) point { return farthest(points[lo:hi], a, b) }, func(p, q point) point {
		if side(a, b, q) > side(a, b, p) {
			return q
		}
		return p
	})
	var before, after []point
	w.Join(func(w *filch.Worker) { before = hullOfInParallel(w, collectLeft(w, points, a, c), few, a, c) },
		func(w *filch.Worker) { after = hullOfInParallel(w, collectLeft(w, points, c, b), few, c, b) })
	return append(append(before, c), after...)
}

// The convex hull of points in a disk, and on a circle, where all are on the hull: then most calls are for a
// point or two.
func BenchmarkHull(b *testing.B) {
	for name, radius := range map[string]func(r *rand.Rand) float64{
		"disk":   func(r *rand.Rand) float64 { return math.Sqrt(r.Float64()) },
		"circle": func(*rand.Rand) float64 { return 1 },
	} {
		n := 2_000_000
		if name == "circle" {
			n = 200_000
		}
		r := rand.New(rand.NewPCG(1, 2))
		points := make([]point, n)
		for i := range points {
			angle, d := 2*math.Pi*r.Float64(), radius(r)
			points[i] = point{d * math.Cos(angle), d * math.Sin(angle)}
		}
		want := hullSerial(points)
		for _, workers := range []int{1, 2} {
			p := filch.New(filch.WithWorkers(workers))
			if !slices.Equal(hullInParallel(p, points, 0), want) || !slices.Equal(hullInParallel(p, points, 100), want) {
				b.Fatal("another hull")
			}
			b.Run(fmt.Sprintf("%s/%d workers", name, workers), func(b *testing.B) {
				againstSerial(b, []string{"Collect", "serial-below-100"}, func() { hullSerial(points) },
					func() { hullInParallel(p, points, 0) }, func() { hullInParallel(p, points, 100) })
			})
			p.Close()
		}
	}
}
