package filch_test

import (
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// The asyncs of a Do are done when it returns, however deep they are.
func ExampleWorker_Async() {
	var files atomic.Int64
	var walk func(w *filch.Worker, dir string)
	walk = func(w *filch.Worker, dir string) {
		entries, _ := fs.ReadDir(folder, dir)
		for _, e := range entries {
			if e.IsDir() {
				w.Async(func(w *filch.Worker) { walk(w, dir+"/"+e.Name()) })
			} else {
				files.Add(1)
			}
		}
	}
	filch.Default().Do(func(w *filch.Worker) { walk(w, "src") })
	fmt.Println(files.Load())
	// Output: 5
}

// What comes after a Finish may use what its asyncs have made.
func ExampleWorker_Finish() {
	squares := make([]int, 4)
	filch.Default().Do(func(w *filch.Worker) {
		w.Finish(func(w *filch.Worker) {
			for i := range squares {
				w.Async(func(*filch.Worker) { squares[i] = i * i })
			}
		})
		fmt.Println(squares)
	})
	// Output: [0 1 4 9]
}
