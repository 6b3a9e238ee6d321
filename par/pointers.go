package par

import "github.com/filch-go/filch"

// EachPtr is [Each] for an f that receives a pointer to the element instead of a copy: for large structs, and to change
// elements in place. No two calls receive the same pointer.
//
// On an Intel Xeon, with elements of 128 bytes of which f reads one field, it took a third of the time of Each.
func EachPtr[T any](s filch.Scope, x []T, f func(i int, v *T), opts ...Option) {
	check("EachPtr", s)
	checkFunc("EachPtr", f == nil)
	c := configOf("EachPtr", opts, ofLoops)
	if len(x) <= 1 {
		if len(x) == 1 {
			boundary(func() { f(0, &x[0]) })
		}
		return
	}
	b := eachPtrBody[T]{x, f}
	c.single = true
	if from := runSerial(s, len(x), f, &c, b.run); from < len(x) { // as in For
		runAdaptive(s, from, len(x), f, c, b.run)
	}
}

type eachPtrBody[T any] struct {
	x []T
	f func(i int, v *T)
}

func (b eachPtrBody[T]) run(lo, hi int) {
	x := b.x[lo:hi]
	for i := range x {
		b.f(lo+i, &x[i])
	}
}

// MapPtr is [Map] for an f that receives a pointer to the element instead of a copy; see [EachPtr].
func MapPtr[T, R any](s filch.Scope, x []T, f func(v *T) R, opts ...Option) []R {
	check("MapPtr", s)
	checkFunc("MapPtr", f == nil)
	c := configOf("MapPtr", opts, ofLoops)
	dst := make([]R, len(x))
	if len(x) <= 1 {
		if len(x) == 1 {
			boundary(func() { dst[0] = f(&x[0]) })
		}
		return dst
	}
	b := mapPtrBody[T, R]{dst, x, f}
	c.single = true
	if from := runSerial(s, len(x), f, &c, b.run); from < len(x) { // as in For
		runAdaptive(s, from, len(x), f, c, b.run)
	}
	return dst
}

type mapPtrBody[T, R any] struct {
	dst []R
	x   []T
	f   func(v *T) R
}

func (b mapPtrBody[T, R]) run(lo, hi int) {
	x, to := b.x[lo:hi], b.dst[lo:hi]
	for i := range x {
		to[i] = b.f(&x[i])
	}
}
