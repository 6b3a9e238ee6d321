package par_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/filch-go/filch/par"
)

// Words are counted in a map for each worker, which are added up in the end.
func ExampleReduceInto() {
	lines := []string{"to be or not", "to be"}
	counts := *par.ReduceInto(pool, len(lines),
		func() *map[string]int { return &map[string]int{} },
		func(m *map[string]int, i int) {
			for word := range strings.FieldsSeq(lines[i]) {
				(*m)[word]++
			}
		},
		func(into, from *map[string]int) {
			for word, n := range *from {
				(*into)[word] += n
			}
		})
	fmt.Println(counts)
	// Output: map[be:2 not:1 or:1 to:2]
}

// Bytes are counted in a table for each worker.
func ExampleReduceIntoRange() {
	type table [256]int
	text := []byte("abracadabra")
	counts := par.ReduceIntoRange(pool, len(text),
		func() *table { return new(table) },
		func(t *table, lo, hi int) {
			for _, b := range text[lo:hi] {
				t[b]++
			}
		},
		func(into, from *table) {
			for b, n := range from {
				into[b] += n
			}
		})
	fmt.Println(counts['a'], counts['b'], counts['z'])
	// Output: 5 2 0
}

// Texts are put together in a buffer for each worker, instead of one for each text.
func ExampleForInit() {
	names := []string{"ann", "bob", "eve"}
	greetings := make([]string, len(names))
	par.ForInit(pool, len(names), func() *bytes.Buffer { return new(bytes.Buffer) }, func(b *bytes.Buffer, i int) {
		b.Reset() // it has what was put together before
		fmt.Fprintf(b, "hello, %s", names[i])
		greetings[i] = b.String()
	})
	fmt.Println(strings.Join(greetings, "; "))
	// Output: hello, ann; hello, bob; hello, eve
}

// Each row is made from a copy of itself, which is in the same buffer for all rows of a worker.
func ExampleForRangeInit() {
	rows := [][]int{{1, 2, 3}, {4, 5, 6}}
	par.ForRangeInit(pool, len(rows), func() *[3]int { return new([3]int) }, func(row *[3]int, lo, hi int) {
		for _, r := range rows[lo:hi] {
			copy(row[:], r)
			for i := range r {
				r[i] = row[len(row)-1-i]
			}
		}
	})
	fmt.Println(rows)
	// Output: [[3 2 1] [6 5 4]]
}

func ExampleCollect() {
	text := "one\ntwo\n\nthree\n"
	ends := par.Collect(pool, len(text), func(lo, hi int, out []int) []int {
		for i := lo; i < hi; i++ {
			if text[i] == '\n' {
				out = append(out, i)
			}
		}
		return out
	})
	fmt.Println(ends)
	// Output: [3 7 8 14]
}

func ExampleFlatMap() {
	lines := []string{"to be", "", "or not to be"}
	words := par.FlatMap(pool, lines, func(line string, out []string) []string {
		return append(out, strings.Fields(line)...)
	})
	fmt.Printf("%q\n", words)
	// Output: ["to" "be" "or" "not" "to" "be"]
}

// A disk is asked by two at a time, however many workers there are.
func ExampleWithMaxWorkers() {
	sizes := par.Map(pool, []string{"a.txt", "bb.txt"}, func(name string) int { return len(name) }, par.WithMaxWorkers(2))
	fmt.Println(sizes)
	// Output: [5 6]
}

// A matrix is stored row by row: a range has whole rows.
func ExampleWithAlign() {
	const columns = 4
	matrix := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	sums := make([]int, len(matrix)/columns)
	par.ForRange(pool, len(matrix), func(lo, hi int) {
		for ; lo < hi; lo += columns {
			for _, v := range matrix[lo : lo+columns] {
				sums[lo/columns] += v
			}
		}
	}, par.WithAlign(columns))
	fmt.Println(sums)
	// Output: [10 26 42]
}
