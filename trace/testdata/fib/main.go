// Command fib is compiled by a test, which looks at the instructions of body.
package main

import (
	"fmt"

	"github.com/filch-go/filch"
)

// body is compiled by itself, so that its instructions can be found.
//
//go:noinline
func body(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
}

func main() {
	p := filch.New(filch.WithWorkers(1))
	fmt.Println(filch.NewFunc(body).Call(p, 10))
}
