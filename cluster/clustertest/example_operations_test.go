package clustertest_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// Three servers for a program; a test calls [clustertest.Three].
func ExampleOpenServers() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	servers, err := clustertest.OpenServers(ctx, 3, clustertest.WithDir(dir))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer servers.Close()
	node, err := cluster.Open(ctx, cluster.WithURL(servers.URL()), cluster.WithReplicas(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(ctx)
	h := cluster.Handle(node, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	f, err := h.Submit(ctx, 21)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Wait(ctx))
	// Output: 42 <nil>
}

// What a node that only submits may use, for the configuration of the servers.
func Example_permissionsOf() {
	p, err := cluster.PermissionsOf(cluster.Submitter, "shop", "front-1", "_INBOX_front-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	// Output:
	// {
	//   publish: [
	//     "shop.work.>"
	//     "shop.later.*"
	//     "shop.claim"
	//     "shop.ended"
	//     "$KV.shop_control.>"
	//     "$KV.shop_after.>"
	//     "$KV.shop_nodes.front-1"
	//     "$JS.API.CONSUMER.INFO.shop_work.*"
	//     "$JS.API.DIRECT.GET.KV_shop_results.>"
	//     "$JS.API.DIRECT.GET.KV_shop_results"
	//     "$JS.API.DIRECT.GET.KV_shop_after.$KV.shop_after.met.*"
	//     "$JS.API.DIRECT.GET.KV_shop_after.$KV.shop_after.edge.*.>"
	//     "$JS.API.STREAM.INFO.shop_work"
	//     "$JS.API.STREAM.INFO.shop_dead"
	//     "$JS.API.STREAM.INFO.shop_later"
	//     "$JS.API.STREAM.INFO.KV_shop_results"
	//     "$JS.API.STREAM.INFO.KV_shop_control"
	//     "$JS.API.STREAM.INFO.KV_shop_after"
	//     "$JS.API.STREAM.INFO.KV_shop_unique"
	//     "$JS.API.STREAM.INFO.KV_shop_batches"
	//     "$JS.API.STREAM.INFO.KV_shop_tries"
	//     "$JS.API.STREAM.INFO.KV_shop_nodes"
	//   ]
	//   subscribe: [
	//     "_INBOX_front-1.>"
	//     "shop.done.front-1"
	//   ]
	// }
}
