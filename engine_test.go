package filch

import "github.com/filch-go/filch/internal/engine"

// engines returns workers as the engine lists them.
func engines(ws ...*Worker) *[]*engine.Worker {
	var all []*engine.Worker
	for _, w := range ws {
		all = append(all, &w.tasks.Engine)
	}
	return &all
}
