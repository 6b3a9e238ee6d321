// Health simulates hospitals, as the program of that name in the Barcelona OpenMP Tasks Suite
// does: a tree of villages, each with a hospital, in steps of a day. In each step some people fall
// ill, some are treated, and some are sent to the hospital one level higher.
//
// A step takes a fraction of a millisecond, and the next one cannot begin before it is over. Two
// things make such short phases parallel: all steps are made in one Do, so that the pool is entered
// once; and a village hands what it sends up to the village above when that has joined it, so that
// no lock is needed, and the result does not depend on the number of workers.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/filch-go/filch"
)

// What people are like.
const (
	fallsIll  = 0.002 // on a day
	isSevere  = 0.1   // of those who are treated
	treatment = 3     // days
)

// patient is a person. Each has random numbers of its own, so that it does not matter when whose
// turn it is.
type patient struct {
	seed uint64
	days int // of treatment left
}

// draw returns a number from 0 up to 1 (SplitMix64, by Steele, Lea and Flood, 2014).
func (p *patient) draw() float64 {
	p.seed += 0x9e3779b97f4a7c15
	z := p.seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

type village struct {
	top     bool
	below   []*village
	beds    int
	home    []patient
	waiting []patient
	inside  []patient
	up      []patient // sent to the village above, in this step
	treated int
}

// newCountry makes a village above all others. Its hospital sends nobody away.
func newCountry(levels, fanout int) *village {
	v := newVillage(levels, fanout, 0)
	v.top = true
	return v
}

// newVillage makes a village with some levels of villages below it.
func newVillage(levels, fanout int, seed uint64) *village {
	v := &village{beds: 1 << levels}
	for i := range 20 * v.beds {
		v.home = append(v.home, patient{seed: seed<<32 + uint64(i)})
	}
	if levels > 0 {
		for i := range fanout {
			v.below = append(v.below, newVillage(levels-1, fanout, seed*uint64(fanout)+uint64(i)+1))
		}
	}
	return v
}

// own is the part of a step that does not depend on the villages below.
func (v *village) own() {
	v.up = v.up[:0]
	inside := v.inside[:0]
	for _, p := range v.inside {
		p.days--
		switch {
		case p.days > 0:
			inside = append(inside, p)
		case !v.top && p.draw() < isSevere:
			v.up = append(v.up, p)
		default:
			v.home = append(v.home, p)
			v.treated++
		}
	}
	v.inside = inside
	home := v.home[:0]
	for _, p := range v.home {
		if p.draw() < fallsIll {
			v.waiting = append(v.waiting, p)
		} else {
			home = append(home, p)
		}
	}
	v.home = home
}

// rest is the rest of it.
func (v *village) rest() {
	for _, b := range v.below {
		v.waiting = append(v.waiting, b.up...)
	}
	n := min(len(v.waiting), v.beds-len(v.inside))
	for _, p := range v.waiting[:n] {
		p.days = treatment
		v.inside = append(v.inside, p)
	}
	v.waiting = append(v.waiting[:0], v.waiting[n:]...)
}

func serial(v *village) {
	for _, b := range v.below {
		serial(b)
	}
	v.own()
	v.rest()
}

// step is the same with a fork for each of the villages below.
var step = filch.NewFunc(func(f *filch.Frame[*village, struct{}], v *village) struct{} {
	m := f.Mark()
	for _, b := range v.below {
		f.Fork(b)
	}
	v.own()
	for range m.JoinAll {
	}
	v.rest()
	return struct{}{}
})

// parallel makes so many steps.
func parallel(s filch.Scope, v *village, steps int) {
	s.Do(func(w *filch.Worker) {
		for range steps {
			step.Call(w, v)
		}
	})
}

// count says how things are.
type count struct{ villages, home, waiting, inside, treated int }

func (v *village) count() count {
	c := count{1, len(v.home), len(v.waiting), len(v.inside), v.treated}
	for _, b := range v.below {
		d := b.count()
		c.villages += d.villages
		c.home += d.home
		c.waiting += d.waiting
		c.inside += d.inside
		c.treated += d.treated
	}
	return c
}

func run(out io.Writer, levels, fanout, steps int) error {
	v := newCountry(levels, fanout)
	begin := time.Now()
	for range steps {
		serial(v)
	}
	alone := time.Since(begin)
	want := v.count()

	pool := filch.New() // as many workers as processors
	defer pool.Close()
	v = newCountry(levels, fanout)
	begin = time.Now()
	parallel(pool, v, steps)
	took := time.Since(begin)
	got := v.count()
	if got != want {
		return fmt.Errorf("%+v, but %+v by the serial program", got, want)
	}
	fmt.Fprintf(out, "%d villages, %d steps: %d treated, %d wait; a step takes %v, with %d workers %v, %.2f times as fast\n",
		got.villages, steps, got.treated, got.waiting, alone/time.Duration(steps),
		runtime.GOMAXPROCS(0), took/time.Duration(steps), float64(alone)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, 3, 12, 365); err != nil {
		fmt.Fprintln(os.Stderr, "health:", err)
		os.Exit(1)
	}
}
