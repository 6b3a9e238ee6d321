package strand_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

var words = strings.Fields("to be or not to be that is the question")

// The lines of a log are in serial order, whoever writes them.
func ExampleReducer() {
	log := strand.NewText()
	var walk func(w *filch.Worker, lo, hi int)
	walk = func(w *filch.Worker, lo, hi int) {
		if hi-lo == 1 {
			fmt.Fprintf(log.View(w), "%s ", words[lo])
			return
		}
		mid := (lo + hi) / 2
		w.Join(func(w *filch.Worker) { walk(w, lo, mid) }, func(w *filch.Worker) { walk(w, mid, hi) })
	}
	filch.Default().Do(func(w *filch.Worker) { walk(w, 0, len(words)) })
	fmt.Println(log.Value())
	// Output: to be or not to be that is the question
}

// Maps add up to one. Of equal words the first counts, so the order matters.
func ExampleNewReducer() {
	firsts := strand.NewReducer(
		func() map[string]int { return map[string]int{} },
		func(a, b map[string]int) map[string]int {
			for word, at := range b {
				if _, ok := a[word]; !ok {
					a[word] = at
				}
			}
			return a
		})
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		m := *firsts.View(s)
		if _, ok := m[words[i]]; !ok {
			m[words[i]] = i
		}
	})
	fmt.Println(firsts.Value())
	// Output: map[be:1 is:7 not:3 or:2 question:9 that:6 the:8 to:0]
}

func ExampleReducer_View() {
	letters := strand.NewSum[int]()
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) { *letters.View(s) += len(words[i]) })
	fmt.Println(letters.Value())
	// Output: 30
}

// What several calls add is there when each has returned.
func ExampleReducer_Value() {
	calls := strand.NewSum[int]()
	fmt.Println(calls.Value())
	for range 3 {
		filch.Default().Do(func(w *filch.Worker) { *calls.View(w)++ })
	}
	fmt.Println(calls.Value())
	// Output:
	// 0
	// 3
}

// sumOf adds any numbers.
func sumOf[T strand.Number](x []T) T {
	sum := strand.NewSum[T]()
	par.ForScope(filch.Default(), len(x), func(s filch.Scope, i int) { *sum.View(s) += x[i] })
	return sum.Value()
}

func ExampleNumber() {
	fmt.Println(sumOf([]float64{0.5, 0.25}), sumOf([]uint8{200, 100}))
	// Output: 0.75 44
}

func ExampleNewSum() {
	sum := strand.NewSum[int]()
	filch.Default().Do(func(w *filch.Worker) {
		w.Join(func(w *filch.Worker) { *sum.View(w) += 3 }, func(w *filch.Worker) { *sum.View(w) += 4 })
	})
	fmt.Println(sum.Value())
	// Output: 7
}

func ExampleNewMin() {
	shortest := strand.NewMin(math.MaxInt)
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		v := shortest.View(s)
		*v = min(*v, len(words[i]))
	})
	fmt.Println(shortest.Value())
	// Output: 2
}

func ExampleNewMax() {
	last := strand.NewMax("")
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		v := last.View(s)
		*v = max(*v, words[i])
	})
	fmt.Println(last.Value())
	// Output: to
}

func ExampleNewAppend() {
	short := strand.NewAppend[string]()
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		if len(words[i]) == 2 {
			v := short.View(s)
			*v = append(*v, words[i])
		}
	})
	fmt.Println(short.Value())
	// Output: [to be or to be is]
}

func ExampleNewText() {
	text := strand.NewText()
	par.ForScope(filch.Default(), 5, func(s filch.Scope, i int) { fmt.Fprintf(text.View(s), "%d squared is %d. ", i, i*i) })
	fmt.Println(text.Value())
	// Output: 0 squared is 0. 1 squared is 1. 2 squared is 4. 3 squared is 9. 4 squared is 16.
}

func ExampleText() {
	var t strand.Text
	fmt.Fprintf(&t, "%d%%", 50)
	fmt.Println(t)
	// Output: 50%
}

func ExampleText_Write() {
	var t strand.Text
	n, _ := t.Write([]byte("abc"))
	fmt.Println(n, t)
	// Output: 3 abc
}

func ExampleText_WriteString() {
	var t strand.Text
	n, _ := t.WriteString("abc")
	fmt.Println(n, t)
	// Output: 3 abc
}

func ExampleText_WriteByte() {
	var t strand.Text
	_ = t.WriteByte('x')
	fmt.Println(t)
	// Output: x
}

func ExampleText_WriteRune() {
	var t strand.Text
	n, _ := t.WriteRune('é')
	fmt.Println(n, t)
	// Output: 2 é
}

func ExampleText_Len() {
	var t strand.Text
	t.WriteString("abc")
	fmt.Println(t.Len())
	// Output: 3
}

func ExampleText_String() {
	var t strand.Text
	t.WriteString("abc")
	fmt.Println(strings.ToUpper(t.String()))
	// Output: ABC
}

// Each part that runs at the same time as others sorts in a buffer of its own.
func ExampleHolder() {
	buffers := strand.NewHolder(func() []byte { return nil })
	sorted := make([]string, len(words))
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		b := buffers.View(s)
		*b = append((*b)[:0], words[i]...)
		slices.Sort(*b)
		sorted[i] = string(*b)
	})
	fmt.Println(sorted)
	// Output: [ot be or not ot be ahtt is eht einoqstu]
}

func ExampleNewHolder() {
	seen := strand.NewHolder(func() map[rune]bool { return map[rune]bool{} })
	different := strand.NewSum[int]()
	par.ForScope(filch.Default(), len(words), func(s filch.Scope, i int) {
		m := *seen.View(s)
		clear(m)
		for _, r := range words[i] {
			m[r] = true
		}
		*different.View(s) += len(m)
	})
	fmt.Println(different.Value())
	// Output: 29
}

func ExampleHolder_View() {
	numbers := strand.NewHolder(func() int { return 1 })
	for range 3 {
		filch.Default().Do(func(w *filch.Worker) {
			v := numbers.View(w) // used again
			fmt.Println(*v)
			*v *= 2
		})
	}
	// Output:
	// 1
	// 2
	// 4
}
