package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/internal/poll"
)

// openNode opens a node for an example, and returns what closes it.
func openNode(opts ...cluster.Option) (n *cluster.Node, end func()) {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	server := cluster.WithServer(embedded.Server{Dir: dir, NoSync: true})
	n, err = cluster.Open(context.Background(), append([]cluster.Option{server, cluster.WithNode("n")}, opts...)...)
	if err != nil {
		log.Fatal(err)
	}
	return n, func() {
		n.Close(context.Background())
		os.RemoveAll(dir)
	}
}

func Example_nodes() {
	n, end := openNode(cluster.WithPlaces(4))
	defer end()
	ctx := context.Background()
	cluster.Handle(n, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	poll.Ask(time.Minute, func() (bool, any) { // it is listed soon
		nodes, err := n.Nodes(ctx) // a []cluster.NodeInfo
		if err != nil {
			log.Fatal(err)
		}
		if len(nodes) > 0 {
			fmt.Println(nodes[0].Name, nodes[0].Places, nodes[0].Handlers)
		}
		return len(nodes) > 0, nil
	})
	// Output: n 4 [double]
}

// A paused handler's tasks wait. Show has the state of one, and Queues how many there are.
func Example_pause() {
	n, end := openNode()
	defer end()
	ctx := context.Background()
	double := cluster.Handle(n, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	poll.Ask(time.Minute, func() (bool, any) { // Handle does not wait for the servers
		return !errors.Is(n.Pause(ctx, "double"), cluster.ErrUnknownHandler), nil
	})
	f, err := double.Submit(ctx, 21, cluster.ID("answer"))
	if err != nil {
		log.Fatal(err)
	}

	task, err := n.Show(ctx, "answer") // a cluster.TaskInfo
	fmt.Println(task.State, task.State == cluster.StateWaiting, string(task.Argument), err)
	queues, err := n.Queues(ctx)
	for _, q := range queues { // each a cluster.Queue
		fmt.Println(q.Handler, q.Lane, q.Paused, err)
	}

	n.Cancel(ctx, "answer")
	_, err = f.Wait(ctx)
	fmt.Println(err)
	fmt.Println(n.Resume(ctx, "double"))
	// Output:
	// waiting true 21 <nil>
	// double high true <nil>
	// double normal true <nil>
	// double low true <nil>
	// cluster: the task was canceled
	// <nil>
}

// The queues of a handler stay until they are removed.
func ExampleNode_RemoveHandler() {
	n, end := openNode()
	defer end()
	ctx := context.Background()
	cluster.Handle(n, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	poll.Ask(time.Minute, func() (bool, any) { // Handle does not wait for the servers
		return errors.Is(n.RemoveHandler(ctx, "double"), cluster.ErrHandlerInUse), nil
	})
	fmt.Println(n.RemoveHandler(ctx, "triple"))
	// Output: cluster: no node has a handler of that name: triple
}

// A task that fails for good is a dead letter. Requeue puts it back, when what was wrong is mended.
func Example_dead() {
	n, end := openNode()
	defer end()
	ctx := context.Background()
	mended := false
	pay := cluster.Handle(n, "pay", func(_ context.Context, bill string) (string, error) {
		if !mended {
			return "", cluster.Permanent(errors.New("the bank is closed"))
		}
		return bill + " is paid", nil
	})
	for _, id := range []string{"bill-1", "bill-2"} {
		f, err := pay.Submit(ctx, id, cluster.ID(id))
		if err != nil {
			log.Fatal(err)
		}
		f.Wait(ctx)
	}
	for letter, err := range n.Dead(ctx, "pay") { // each a cluster.DeadLetter
		fmt.Println(letter.ID, letter.Reason, err)
	}

	fmt.Println(n.DeadCounts(ctx))

	mended = true
	fmt.Println(n.Requeue(ctx, "bill-1"), n.DeleteDead(ctx, "bill-2"))
	f, err := pay.Submit(ctx, "bill-1", cluster.ID("bill-1")) // the same task: it is only waited for
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	fmt.Println(errors.Is(n.Requeue(ctx, "bill-2"), cluster.ErrNoDeadLetter))
	// Output:
	// bill-1 the bank is closed <nil>
	// bill-2 the bank is closed <nil>
	// map[pay:2] <nil>
	// <nil> <nil>
	// bill-1 is paid <nil>
	// true
}
