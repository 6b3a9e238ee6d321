// Program stores a task in the default folder.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/filch-go/filch/cluster"
	_ "github.com/filch-go/filch/cluster/embedded"
)

func main() {
	ctx := context.Background()
	n, err := cluster.Open(ctx)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	h := cluster.Handle(n, "h", func(_ context.Context, i int) (int, error) { return i, nil })
	_, err = h.Submit(ctx, 1)
	fmt.Println("stored", err, n.Close(ctx))
}
