package clustertest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/filch-go/filch/cluster"
)

// A page is published when its text and its picture are there. Each of the three may run on another machine.
func Example_after() {
	ctx := context.Background()
	n, done := openExample()
	defer done()
	prepare := cluster.Handle(n, "prepare", func(ctx context.Context, what string) (string, error) {
		return what + " is there", nil
	})
	publish := cluster.Handle(n, "publish", func(ctx context.Context, page string) (string, error) {
		return page + " is published", nil
	})

	text, err := prepare.Submit(ctx, "text")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := prepare.Submit(ctx, "picture", cluster.ID("picture-7")); err != nil {
		log.Fatal(err)
	}
	page, err := publish.Submit(ctx, "page 7", cluster.After(text, cluster.TaskID("picture-7")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Wait(ctx))
	// Output: page 7 is published <nil>
}
