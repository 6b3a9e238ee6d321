package main

import (
	"strings"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// add adds the words of text to counts.
func add(counts map[string]int, text string) {
	for word := range strings.FieldsSeq(text) {
		counts[word]++
	}
}

// wordsSerial counts the words of all texts.
func wordsSerial(texts []string) map[string]int {
	counts := map[string]int{}
	for _, text := range texts {
		add(counts, text)
	}
	return counts
}

// merge returns the sum of a and b, and uses both up.
func merge(a, b map[string]int) map[string]int {
	if len(a) < len(b) {
		a, b = b, a
	}
	for word, n := range b {
		a[word] += n
	}
	return a
}

// wordsHalves counts both halves of the texts at once.
func wordsHalves(s filch.Scope, texts []string) (counts map[string]int) {
	mid := len(texts) / 2
	s.Do(func(w *filch.Worker) {
		left, right := filch.Join(w,
			func(*filch.Worker) map[string]int { return wordsSerial(texts[:mid]) },
			func(*filch.Worker) map[string]int { return wordsSerial(texts[mid:]) })
		counts = merge(left, right)
	})
	return counts
}

// wordsTree divides the texts in halves, and these in halves, down to a few.
var wordsTree = filch.NewFunc(func(f *filch.Frame[[]string, map[string]int], texts []string) map[string]int {
	if len(texts) <= 64 { // each leaf makes a map, which costs far more than a fork
		return wordsSerial(texts)
	}
	mid := len(texts) / 2
	right := f.Fork(texts[mid:]) // another worker may take this call
	left := f.Call(texts[:mid])
	return merge(left, f.Join(right)) // it runs here if none has
})

// wordsPar counts with one map for each worker that takes part.
func wordsPar(s filch.Scope, texts []string) map[string]int {
	return *par.ReduceInto(s, len(texts),
		func() *map[string]int { return &map[string]int{} },
		func(counts *map[string]int, i int) { add(*counts, texts[i]) },
		func(into, from *map[string]int) { *into = merge(*into, *from) })
}
