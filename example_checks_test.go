package filch_test

import (
	"fmt"
	"strings"

	"github.com/filch-go/filch"
)

// A Worker is for the goroutine that gets it. With checks, a use on another one panics, and the message has
// the stacks of both places.
func ExampleWithChecks() {
	p := filch.New(filch.WithWorkers(2), filch.WithChecks())
	defer p.Close()
	p.Do(func(w *filch.Worker) {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			w.Join(func(*filch.Worker) {}, func(*filch.Worker) {})
		}()
		mistake, _, _ := strings.Cut(fmt.Sprint(<-done), ";")
		fmt.Println(mistake)
	})
	// Output:
	// filch: Worker.Join: a Worker is used on another goroutine than the one that it was handed to
}

func ExamplePool_String() {
	p := filch.New(filch.WithName("images"), filch.WithWorkers(4))
	defer p.Close()
	fmt.Println(p)
	// Output:
	// images, 4 workers
}
