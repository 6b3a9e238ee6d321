package workload

import (
	"fmt"

	"github.com/filch-go/filch"
)

const wideFib = 22

// wide shows what an argument costs that has more than the four words which the compiler
// keeps in registers. Its serial program passes one word.
var wide = &Workload{
	Name:    "wide",
	About:   "fib 22 with an argument of 4 words, which are passed in registers, or of 5 or 8",
	Sizes:   []string{"4", "5", "8"},
	Default: []Default{{Size: "4", Heavy: true}, {Size: "5", Heavy: true}},
	Prepare: func(size string, env Env) (*Job, error) {
		j, err := fib.Prepare(itoa(wideFib), env)
		if err != nil {
			return nil, err
		}
		j.Call, j.Strand, j.StrandClosure = nil, nil, nil
		switch size {
		case "4":
			j.Func = func(p filch.Scope) string { return itoa(wide4.Call(p, words4{wideFib, 0, 0, 0})) }
			j.Chain = func(p filch.Scope) string { return itoa(wide4Chain.Call(p, words4{wideFib, 0, 0, 0})) }
		case "5":
			j.Func = func(p filch.Scope) string { return itoa(wide5.Call(p, words5{wideFib, 0, 0, 0, 0})) }
			j.Chain = func(p filch.Scope) string { return itoa(wide5Chain.Call(p, words5{wideFib, 0, 0, 0, 0})) }
		case "8":
			j.Func = func(p filch.Scope) string { return itoa(wide8.Call(p, words8{wideFib, 0, 0, 0, 0, 0, 0, 0})) }
			j.Chain = func(p filch.Scope) string { return itoa(wide8Chain.Call(p, words8{wideFib, 0, 0, 0, 0, 0, 0, 0})) }
		default:
			return nil, fmt.Errorf("wide: unknown size %q; there are 4, 5 and 8 words", size)
		}
		return j, nil
	},
}

// words4 is an argument of four words.
type words4 struct{ n, b, c, d int64 }

var wide4 = filch.NewFunc(wide4Body)

func wide4Body(f *filch.Frame[words4, int64], a words4) int64 {
	if a.n < 2 {
		return a.n
	}
	a.n--
	h := f.Fork(a)
	a.n--
	b := wide4Body(f, a)
	return f.Join(h) + b
}

var wide4Chain = filch.NewChain(wide4Link)

func wide4Link(l *filch.Link[words4, int64], a words4) int64 {
	if a.n < 2 {
		return a.n
	}
	more := a
	more.n--
	l.Fork(more)
	a.n -= 2
	b := wide4Link(l.Next(), a)
	if l.TakeBack() {
		return wide4Link(l, more) + b
	}
	return l.Join() + b
}

// words5 is an argument of five words.
type words5 struct{ n, b, c, d, e int64 }

var wide5 = filch.NewFunc(wide5Body)

func wide5Body(f *filch.Frame[words5, int64], a words5) int64 {
	if a.n < 2 {
		return a.n
	}
	a.n--
	h := f.Fork(a)
	a.n--
	b := wide5Body(f, a)
	return f.Join(h) + b
}

var wide5Chain = filch.NewChain(wide5Link)

func wide5Link(l *filch.Link[words5, int64], a words5) int64 {
	if a.n < 2 {
		return a.n
	}
	more := a
	more.n--
	l.Fork(more)
	a.n -= 2
	b := wide5Link(l.Next(), a)
	if l.TakeBack() {
		return wide5Link(l, more) + b
	}
	return l.Join() + b
}

// words8 is an argument of eight words.
type words8 struct{ n, b, c, d, e, g, h, i int64 }

var wide8 = filch.NewFunc(wide8Body)

func wide8Body(f *filch.Frame[words8, int64], a words8) int64 {
	if a.n < 2 {
		return a.n
	}
	a.n--
	h := f.Fork(a)
	a.n--
	b := wide8Body(f, a)
	return f.Join(h) + b
}

var wide8Chain = filch.NewChain(wide8Link)

func wide8Link(l *filch.Link[words8, int64], a words8) int64 {
	if a.n < 2 {
		return a.n
	}
	more := a
	more.n--
	l.Fork(more)
	a.n -= 2
	b := wide8Link(l.Next(), a)
	if l.TakeBack() {
		return wide8Link(l, more) + b
	}
	return l.Join() + b
}
