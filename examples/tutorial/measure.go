package main

import (
	"io"

	"github.com/filch-go/filch"
)

// measure writes how many workers could count the ways to place n queens.
func measure(out io.Writer, n int) error {
	p := filch.Measure(func(w *filch.Worker) { queensAll.Call(w, emptyBoard(n)) })
	return p.WriteText(out)
}
