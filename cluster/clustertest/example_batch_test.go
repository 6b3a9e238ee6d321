package clustertest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/filch-go/filch/cluster"
)

// A hundred pictures are made smaller, on any machine. When all are, one mail is sent.
func Example_batch() {
	ctx := context.Background()
	n, done := openExample()
	defer done()
	shrink := cluster.Handle(n, "shrink", func(ctx context.Context, picture int) (int, error) {
		return picture, nil
	})
	mail := cluster.Handle(n, "mail", func(ctx context.Context, to string) (string, error) {
		return "mail to " + to, nil
	})

	b, err := cluster.NewBatch(ctx, n)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := mail.Submit(ctx, "anna", cluster.After(b))
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100 {
		if _, err := shrink.Submit(ctx, i, cluster.InBatch(b), cluster.NoResult()); err != nil {
			log.Fatal(err)
		}
	}
	all, err := b.Close(ctx)
	if err != nil {
		log.Fatal(err)
	}
	counts, err := all.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts.Ended, "of", counts.Total, "have ended,", counts.Failed, "failed")
	fmt.Println(sent.Wait(ctx))
	// Output:
	// 100 of 100 have ended, 0 failed
	// mail to anna <nil>
}
