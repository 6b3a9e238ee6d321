package graph_test

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/graph"
)

func ExampleRecord() {
	x, y := make([]int, 1000), make([]int, 1000)
	for i := range x {
		x[i], y[i] = -i, i*i%1000
	}
	var file bytes.Buffer // or a file, for filch sim
	err := graph.Record(&file, "two sorts", func(w *filch.Worker) {
		filch.Join(w,
			func(*filch.Worker) int { slices.Sort(x); return 0 },
			func(*filch.Worker) int { slices.Sort(y); return 0 })
	})
	fmt.Println(err)
	fmt.Println(bytes.HasPrefix(file.Bytes(), []byte(`{"name":"two sorts"`)))
	// Output:
	// <nil>
	// true
}
