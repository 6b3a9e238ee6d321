package filch_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"

	"github.com/filch-go/filch"
)

// What a pool does, at /debug/vars.
func ExamplePool_Stats_expvar() {
	p := filch.New(filch.WithName("web"), filch.WithWorkers(4))
	expvar.Publish("filch web", expvar.Func(func() any { return p.Stats() }))

	ctx := context.Background()
	filch.Submit(ctx, p, func(context.Context) (int, error) { return 9 * 9, nil }).Wait(ctx)
	p.Shutdown(ctx) // the figures of a pool at rest are exact
	var shown filch.Stats
	if err := json.Unmarshal([]byte(expvar.Get("filch web").String()), &shown); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shown.Workers, shown.Tasks.Done)
	// Output: 4 1
}
