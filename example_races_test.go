package filch_test

import (
	"fmt"

	"github.com/filch-go/filch"
)

// In a test that runs under go test -race, both sides of this Join are reported if they use one variable,
// whichever worker runs them. Here each has its own.
func ExampleWithLogicalRaces() {
	p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
	p.Do(func(w *filch.Worker) {
		var left, right int
		w.Join(
			func(*filch.Worker) { left = 1 },
			func(*filch.Worker) { right = 2 },
		)
		fmt.Println(left + right)
	})
	// Output: 3
}
