package clustertest_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/par"
)

// The examples of package cluster are here, since they need a server.

// start opens a node with a server in this process, whose files are removed at the end.
func start(opts ...cluster.Option) (n *cluster.Node, stop func()) {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	n, err = cluster.Open(context.Background(), append([]cluster.Option{cluster.WithServer(embedded.Server{Dir: dir, NoSync: true})}, opts...)...)
	if err != nil {
		log.Fatal(err)
	}
	return n, func() {
		if err := n.Close(context.Background()); err != nil {
			log.Print(err)
		}
		os.RemoveAll(dir)
	}
}

// When Submit returns, the task is stored, and runs on a node that has its handler.
func Example() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	square := cluster.Handle(n, "square", func(ctx context.Context, x int) (int, error) { return x * x, nil })
	f, err := square.Submit(ctx, 7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	// Output: 49 <nil>
}

// With an ID of its own, a task that is submitted again is not stored again, and its handler can recognize it.
func Example_stored() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	cluster.Handle(n, "bill", func(ctx context.Context, customer string) (string, error) {
		task, _ := cluster.TaskOf(ctx)
		return fmt.Sprintf("%s: bill %s, attempt %d", customer, task.ID, task.Attempt), nil
	})
	for range 2 { // the second time, it has been submitted
		f, err := cluster.Submit[string, string](ctx, n, "bill", "Ada", cluster.ID("2026-11/ada@example.com"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Wait(ctx))
	}
	// Output:
	// Ada: bill 2026-11/ada@example.com, attempt 1 <nil>
	// Ada: bill 2026-11/ada@example.com, attempt 1 <nil>
}

// Inside a handler, its context is that of a task of the pool.
func Example_parallel() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	sort := cluster.Handle(n, "sort", func(ctx context.Context, words []string) ([]string, error) {
		par.Sort(filch.ScopeOf(ctx), words)
		return words, nil
	})
	f, err := sort.Submit(ctx, []string{"pear", "apple", "fig"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	// Output: [apple fig pear] <nil>
}

// What fails is tried again, unless its error says that this is of no use.
func ExampleRetry() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	fetch := cluster.Handle(n, "fetch", func(ctx context.Context, page string) (string, error) {
		task, _ := cluster.TaskOf(ctx)
		switch {
		case page == "/gone":
			return "", cluster.Permanent(errors.New("there is no such page"))
		case task.Attempt == 1:
			return "", cluster.RetryAfter(errors.New("too many requests"), 10*time.Millisecond)
		case task.Attempt == 2:
			return "", errors.New("the connection was lost")
		}
		return "text of " + page, nil
	}, cluster.WithRetry(cluster.Retry{Attempts: 3, First: 10 * time.Millisecond}))

	for _, page := range []string{"/a", "/gone"} {
		f, err := fetch.Submit(ctx, page, cluster.ID("fetch"+page))
		if err != nil {
			log.Fatal(err)
		}
		text, err := f.Wait(ctx)
		fmt.Printf("%q %v\n", text, err)
	}
	// Output:
	// "text of /a" <nil>
	// "" cluster: task fetch/gone of fetch failed after 1 attempt: there is no such page
}

// A task has a time, and can be canceled.
func Example_cancel() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	sleep := cluster.Handle(n, "sleep", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() { <-ctx.Done() })
		return 0, ctx.Err()
	})
	late, err := sleep.Submit(ctx, 0, cluster.Within(20*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	_, err = late.Wait(ctx)
	fmt.Println(err)

	canceled, err := sleep.Submit(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := n.Cancel(ctx, canceled.ID()); err != nil { // or canceled.Cancel()
		log.Fatal(err)
	}
	<-canceled.Done()
	_, err = canceled.Wait(ctx)
	fmt.Println(err)
	// Output:
	// cluster: the task's time was over
	// cluster: the task was canceled
}

// A long task says that it goes on. If it is silent for too long, it is tried again, here or elsewhere.
func ExampleProgress() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	count := cluster.Handle(n, "count", func(ctx context.Context, to int) (sum int, err error) {
		for i := range to {
			cluster.Progress(ctx)
			sum += i
		}
		return sum, nil
	}, cluster.WithSilence(time.Minute), cluster.WithAckWait(10*time.Second))
	f, err := count.Submit(ctx, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	// Output: 4950 <nil>
}

// Tasks of one key run in the order in which they were submitted.
func ExampleKey() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	balance := map[string]int{}
	cluster.Handle(n, "book", func(ctx context.Context, amount int) (int, error) {
		task, _ := cluster.TaskOf(ctx)
		balance[task.Key] += amount // one task of a key at a time
		return balance[task.Key], nil
	}, cluster.WithKeys(1))
	for _, amount := range []int{100, -30, 5} {
		f, err := cluster.Submit[int, int](ctx, n, "book", amount, cluster.Key("account-1"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Wait(ctx))
	}
	// Output:
	// 100 <nil>
	// 70 <nil>
	// 75 <nil>
}

// Versions of a handler stand side by side, and so do handlers with limits and levels.
func Example_options() {
	n, stop := start(cluster.WithName("shop"), cluster.WithNode("a"), cluster.WithPlaces(4), cluster.WithTier(0), cluster.WithThreshold(0))
	defer stop()
	ctx := context.Background()

	cluster.Handle(n, "greet", func(context.Context, string) (string, error) { return "Hello", nil })
	cluster.Handle(n, "greet", func(_ context.Context, name string) (string, error) { return "Hello " + name, nil },
		cluster.WithVersion("2"), cluster.WithLimit(10))
	cluster.Handle(n, "render", func(context.Context, string) (string, error) { return "a picture", nil },
		cluster.WithNodeLimit(1), cluster.WithStealAbove(100))

	for _, task := range []struct {
		handler string
		opts    []cluster.SubmitOption
	}{
		{"greet", []cluster.SubmitOption{cluster.AtLevel(cluster.High)}},
		{"greet", []cluster.SubmitOption{cluster.OfVersion("2")}},
		{"render", nil},
	} {
		f, err := cluster.Submit[string, string](ctx, n, task.handler, "Ada", task.opts...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Wait(ctx))
	}
	fmt.Println(n.Name(), n.Stats().Submitted, n.Stats().Local, n.Pool() == filch.Default())
	// Output:
	// Hello <nil>
	// Hello Ada <nil>
	// a picture <nil>
	// a 3 0 true
}

// What is cheap to lose need not be stored: a handler can say it for all of its tasks, and a submission for one.
func ExampleLocalFirst() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	square := cluster.Handle(n, "square", func(ctx context.Context, x int) (int, error) { return x * x, nil }, cluster.WithLocalFirst())
	double := cluster.Handle(n, "double", func(ctx context.Context, x int) (int, error) { return 2 * x, nil })
	for _, submit := range []func() (*cluster.Future[int], error){
		func() (*cluster.Future[int], error) { return square.Submit(ctx, 7) },
		func() (*cluster.Future[int], error) { return square.Submit(ctx, 7, cluster.Durable()) },
		func() (*cluster.Future[int], error) { return double.Submit(ctx, 7, cluster.LocalFirst()) },
	} {
		f, err := submit()
		if err != nil {
			log.Fatal(err)
		}
		v, err := f.Wait(ctx)
		fmt.Printf("%d %v, stored: %t\n", v, err, f.ID() != "")
	}
	// Output:
	// 49 <nil>, stored: false
	// 49 <nil>, stored: true
	// 14 <nil>, stored: false
}

// A task without a result costs the servers one write less.
func ExampleNoResult() {
	n, stop := start()
	defer stop()
	ctx := context.Background()

	done := make(chan string)
	tell := cluster.Handle(n, "tell", func(_ context.Context, text string) (struct{}, error) { done <- text; return struct{}{}, nil })
	f, err := tell.Submit(ctx, "sent", cluster.NoResult())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tell.Name(), <-done)
	_, err = f.Wait(ctx)
	fmt.Println(err)
	// Output:
	// tell sent
	// cluster: the task was submitted without a result
}

// Gob is a codec: arguments and results in the form of package gob.
type Gob struct{}

func (Gob) Name() string { return "gob" }

func (Gob) Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func (Gob) Unmarshal(data []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

func ExampleCodec() {
	n, stop := start(cluster.WithCodecs(Gob{}, cluster.JSON()))
	defer stop()
	ctx := context.Background()

	conjugate := cluster.Handle(n, "conjugate", func(_ context.Context, z complex128) (complex128, error) {
		return complex(real(z), -imag(z)), nil
	})
	f, err := conjugate.Submit(ctx, 1+2i) // JSON has no complex numbers
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	// Output: (1-2i) <nil>
}

// When the stream is full, Submit waits or returns an error.
func ExampleWithQueueLimit() {
	n, stop := start(cluster.WithQueueLimit(1, filch.Reject), cluster.WithPlaces(0))
	defer stop()
	ctx := context.Background()

	cluster.Handle(n, "work", func(context.Context, int) (int, error) { return 0, nil })
	for i := range 2 {
		_, err := cluster.Submit[int, int](ctx, n, "work", i)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// cluster: the stream of tasks is full
}

// Large tasks are limited by their bytes, so that they leave room on the servers for outcomes.
func ExampleWithQueueBytes() {
	n, stop := start(cluster.WithQueueBytes(1<<20, filch.Reject), cluster.WithPlaces(0))
	defer stop()
	ctx := context.Background()

	cluster.Handle(n, "length", func(_ context.Context, b []byte) (int, error) { return len(b), nil })
	for range 2 {
		_, err := cluster.Submit[[]byte, int](ctx, n, "length", make([]byte, 600_000))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// cluster: the stream of tasks is full
}
