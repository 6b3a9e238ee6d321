package strand

import (
	"cmp"
	"unicode/utf8"
)

// Number is a type with addition.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// NewSum returns a [Reducer] that adds: *sum.View(w) += x. Integers wrap around. The last digits of a floating-point
// sum depend on which work was stolen; those of par.Sum do not.
func NewSum[T Number]() *Reducer[T] {
	return NewReducer(func() T { return 0 }, func(a, b T) T { return a + b })
}

// NewMin returns a [Reducer] for the minimum:
//
//	v := least.View(w)
//	*v = min(*v, x)
//
// Each view begins with none, which is also the value if nothing is added: pass a value that nothing exceeds, such as
// math.MaxInt. A NaN is less than anything, as in the built-in min.
func NewMin[T cmp.Ordered](none T) *Reducer[T] {
	return NewReducer(func() T { return none }, func(a, b T) T { return min(a, b) })
}

// NewMax returns a [Reducer] for the maximum, as [NewMin] does for the minimum. none must be less than all other
// values, such as math.MinInt.
func NewMax[T cmp.Ordered](none T) *Reducer[T] {
	return NewReducer(func() T { return none }, func(a, b T) T { return max(a, b) })
}

// NewAppend returns a [Reducer] for a list in serial order:
//
//	v := list.View(w)
//	*v = append(*v, x)
//
// The value is nil if nothing was appended. The elements of a stolen fork are copied to the end of those before it.
func NewAppend[T any]() *Reducer[[]T] {
	return NewReducer(func() []T { return nil }, func(a, b []T) []T {
		if len(a) == 0 {
			return b
		}
		return append(a, b...)
	})
}

// NewText returns a [Reducer] for text in serial order:
//
//	fmt.Fprintf(log.View(w), "visited %s\n", name)
//	…
//	fmt.Print(log.Value())
func NewText() *Reducer[Text] {
	return NewReducer(func() Text { return Text{} }, func(a, b Text) Text {
		if len(a.bytes) == 0 {
			return b
		}
		return Text{append(a.bytes, b.bytes...)}
	})
}

// Text is text that is appended to, as with a strings.Builder. The zero Text is empty. Unlike a strings.Builder it may
// be copied, but only one of the copies may be written to. None of its methods returns an error.
type Text struct{ bytes []byte }

// Write appends p, and returns its length.
func (t *Text) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	return len(p), nil
}

// WriteString appends s, and returns its length.
func (t *Text) WriteString(s string) (int, error) {
	t.bytes = append(t.bytes, s...)
	return len(s), nil
}

// WriteByte appends c.
func (t *Text) WriteByte(c byte) error {
	t.bytes = append(t.bytes, c)
	return nil
}

// WriteRune appends r in UTF-8, and returns its length in bytes.
func (t *Text) WriteRune(r rune) (int, error) {
	n := len(t.bytes)
	t.bytes = utf8.AppendRune(t.bytes, r)
	return len(t.bytes) - n, nil
}

// Len returns the length in bytes.
func (t Text) Len() int { return len(t.bytes) }

// String returns a copy of the text.
func (t Text) String() string { return string(t.bytes) }
