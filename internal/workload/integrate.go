package workload

import (
	"fmt"
	"math"

	"github.com/filch-go/filch"
)

var integrate = &Workload{
	Name:    "integrate",
	About:   "the integral of x^3+x from 0 to n by adaptive trapezoids, error 1e-9",
	Sizes:   []string{"25", "100", "500", "1000", "10000"},
	Default: []Default{{Size: "25"}, {Size: "100", Heavy: true}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("integrate", size, 1, 1e5)
		if err != nil {
			return nil, err
		}
		x := float64(n)
		exact := x*x*x*x/4 + x*x/2
		answer := func(got float64) string {
			if math.Abs(got-exact) > 1e-6*exact {
				return fmt.Sprint(got)
			}
			return fmt.Sprintf("%.0f", exact)
		}
		whole := interval{0, x, f(0), f(x)}
		j := &Job{
			Want:   fmt.Sprintf("%.0f", exact),
			Serial: func() string { return answer(serialIntegral(0, x, f(0), f(x))) },
			Func:   func(p filch.Scope) string { return answer(integralFunc.Call(p, whole)) },
			Chain:  func(p filch.Scope) string { return answer(integralChain.Call(p, whole)) },
			Closures: func(w *filch.Worker, both Both) string {
				return answer(closureIntegral(w, both, whole))
			},
		}
		j.Load = func() { j.Forks = whole.forks() }
		return j, nil
	},
}

func f(x float64) float64 { return (x*x + 1) * x }

// interval is a stretch with the function's values at its ends: four words, which is as
// much as the compiler keeps in registers. With the trapezoid's area as a fifth it would be
// passed in memory, and the serial program would take seven times as long.
type interval struct{ x0, x1, y0, y1 float64 }

// area is that of the trapezoid that the function's values at the ends span.
func (v interval) area() float64 { return (v.y0 + v.y1) / 2 * (v.x1 - v.x0) }

// halve reports whether the trapezoids of both halves give nearly the same
// area, and returns the halves and that area.
func (v interval) halve() (done bool, a, b interval, area float64) {
	x := v.x0 + (v.x1-v.x0)/2
	y := f(x)
	a = interval{v.x0, x, v.y0, y}
	b = interval{x, v.x1, y, v.y1}
	area = a.area() + b.area()
	return math.Abs(area-v.area()) < 1e-9, a, b, area
}

func (v interval) forks() int64 {
	done, a, b, _ := v.halve()
	if done {
		return 0
	}
	return 1 + a.forks() + b.forks()
}

// serialIntegral is interval.halve with numbers of their own, as they are passed where
// nothing must be put into one argument.
func serialIntegral(x0, x1, y0, y1 float64) float64 {
	half := (x1 - x0) / 2
	x := x0 + half
	y := f(x)
	a, b := (y0+y)/2*half, (y+y1)/2*half
	if math.Abs(a+b-(y0+y1)*half) < 1e-9 {
		return a + b
	}
	return serialIntegral(x0, x, y0, y) + serialIntegral(x, x1, y, y1)
}

var integralFunc = filch.NewFunc(integralBody)

func integralBody(f *filch.Frame[interval, float64], v interval) float64 {
	done, a, b, area := v.halve()
	if done {
		return area
	}
	h := f.Fork(b)
	x := integralBody(f, a)
	return x + f.Join(h)
}

var integralChain = filch.NewChain(integralLink)

func integralLink(l *filch.Link[interval, float64], v interval) float64 {
	done, a, b, area := v.halve()
	if done {
		return area
	}
	l.Fork(b)
	x := integralLink(l.Next(), a)
	if l.TakeBack() {
		return x + integralLink(l, b)
	}
	return x + l.Join()
}

func closureIntegral(w *filch.Worker, both Both, v interval) float64 {
	done, a, b, area := v.halve()
	if done {
		return area
	}
	var x, y float64
	both(w,
		func(w *filch.Worker) { x = closureIntegral(w, both, a) },
		func(w *filch.Worker) { y = closureIntegral(w, both, b) })
	return x + y
}
