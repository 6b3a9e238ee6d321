package main

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// A section has a text and any number of sections below it.
type section struct {
	text     string
	sections []*section
}

// countIn counts a word in a section and all below it.
var countIn = filch.NewFunc(func(f *filch.Frame[*section, int], s *section) int {
	m := f.Mark()
	for _, below := range s.sections {
		f.Fork(below) // another worker may take this call
	}
	n := strings.Count(s.text, "steal")
	for _, more := range m.JoinAll {
		n += more
	}
	return n
})

func count(p *filch.Pool, book *section) int { return countIn.Call(p, book) }

func countSerial(s *section) int {
	n := strings.Count(s.text, "steal")
	for _, below := range s.sections {
		n += countSerial(below)
	}
	return n
}

// countGoroutines starts a goroutine for each section.
func countGoroutines(s *section) int {
	var n atomic.Int64
	var wg sync.WaitGroup
	for _, below := range s.sections {
		wg.Go(func() { n.Add(int64(countGoroutines(below))) })
	}
	n.Add(int64(strings.Count(s.text, "steal")))
	wg.Wait()
	return int(n.Load())
}

// newSection makes up one with so many sections in all, some branches much larger than others.
func newSection(r *rand.Rand, size int, words string) *section {
	from := r.IntN(len(words) / 2)
	s := &section{text: words[from : from+r.IntN(len(words)/2)]}
	for size--; size > 0; {
		part := 1 + r.IntN(size)
		s.sections = append(s.sections, newSection(r, part, words))
		size -= part
	}
	return s
}

func makeTree(p *filch.Pool, small bool) forms {
	size := 200_000
	if small {
		size = 500
	}
	book := newSection(rand.New(rand.NewPCG(1, 2)), size, strings.Repeat("to steal work is to share it; ", 30))
	return forms{
		serial:     func() (any, error) { return countSerial(book), nil },
		goroutines: func() (any, error) { return countGoroutines(book), nil },
		filch:      func() (any, error) { return count(p, book), nil },
	}
}
