package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// Many ask for the same report at once. It is made once, and all read it.
func Example_unique() {
	ctx := context.Background()
	n, done := openExample()
	defer done()
	asked := make(chan struct{})
	report := cluster.Handle(n, "report", func(ctx context.Context, year int) (string, error) {
		filch.Blocking(ctx, func() { <-asked })
		return fmt.Sprint("the report of ", year), nil
	})

	ask := func() *cluster.Future[string] {
		f, err := report.Submit(ctx, 2026, cluster.Unique("report-2026", time.Hour))
		if e, ok := errors.AsType[*cluster.NotUniqueError](err); ok {
			f, err = cluster.Attach[string](ctx, n, e.ID)
		}
		if err != nil {
			log.Fatal(err)
		}
		return f
	}
	first, second := ask(), ask()
	close(asked)
	fmt.Println(first.Wait(ctx))
	fmt.Println(second.Wait(ctx))
	fmt.Println("one task:", first.ID() == second.ID())
	// Output:
	// the report of 2026 <nil>
	// the report of 2026 <nil>
	// one task: true
}
