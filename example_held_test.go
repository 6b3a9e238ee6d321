package filch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/filch-go/filch"
)

func ExampleAfter() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	compile := func(context.Context) (string, error) { return "a.out", nil }
	fetch := func(context.Context) (int, error) { return 3, nil }
	program := filch.Submit(ctx, p, compile, filch.Named("compile"))
	inputs := filch.Submit(ctx, p, fetch, filch.Named("fetch"))
	run := filch.Submit(ctx, p, func(ctx context.Context) (string, error) {
		name, _ := program.Wait(ctx) // it is done, without an error
		n, _ := inputs.Wait(ctx)
		return fmt.Sprintf("%s ran on %d inputs", name, n), nil
	}, filch.After(program, inputs))
	fmt.Println(run.Wait(ctx))

	broken := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, errors.New("no such host") }, filch.Named("fetch"))
	fmt.Println(filch.Submit(ctx, p, fetch, filch.After(program, broken)).Wait(ctx))
	// Output:
	// a.out ran on 3 inputs <nil>
	// 0 filch: After: task "fetch" failed: no such host
}

func ExampleWaiter() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	var all []filch.Waiter // of any types
	all = append(all, filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }))
	all = append(all, filch.Submit(ctx, p, func(context.Context) (string, error) { return "two", nil }))
	last := filch.Submit(ctx, p, func(context.Context) (string, error) { return "all are done", nil }, filch.After(all...))
	fmt.Println(last.Wait(ctx))
	// Output: all are done <nil>
}

func ExamplePromise() {
	ctx := context.Background()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	answer := filch.NewPromise[int](p)
	double := filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
		n, err := answer.Future().Wait(ctx) // others have its place meanwhile
		return 2 * n, err
	})
	filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
		fmt.Println(answer.Complete(21, nil), answer.Complete(4, nil))
		return 0, nil
	})
	fmt.Println(double.Wait(ctx))
	// Output:
	// true false
	// 42 <nil>
}

func ExampleNewPromise() {
	ExamplePromise()
	// Output:
	// true false
	// 42 <nil>
}

func ExamplePromise_Complete() {
	ExamplePromise()
	// Output:
	// true false
	// 42 <nil>
}

func ExamplePromise_Future() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	config := filch.NewPromise[string](p)
	serve := filch.Submit(ctx, p, func(ctx context.Context) (string, error) {
		addr, err := config.Future().Wait(ctx)
		return "serving " + addr, err
	}, filch.After(config.Future()))
	config.Complete(":8080", nil)
	fmt.Println(serve.Wait(ctx))
	// Output: serving :8080 <nil>
}

func ExamplePool_Subpool() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	db := p.Subpool(1, filch.WithName("db"), filch.WithOrder(filch.FIFO))
	g := p.Group(ctx)
	rows := 0
	for i := range 10 {
		g.Go(func(context.Context) error {
			rows += i // no two tasks of db run at once
			return nil
		}, db)
	}
	fmt.Println(g.Wait(), rows)
	// Output: <nil> 45
}

func ExampleSubpool() { ExamplePool_Subpool() /* Output: <nil> 45 */ }

func ExampleSubpool_Queued() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	db := p.Subpool(2)
	p.Pause()
	for range 5 {
		p.Go(ctx, func(context.Context) {}, db)
	}
	fmt.Println(db.Running(), "in the queue of the pool,", db.Queued(), "in its own")
	// Output: 2 in the queue of the pool, 3 in its own
}

func ExampleSubpool_Running() {
	ExampleSubpool_Queued() /* Output: 2 in the queue of the pool, 3 in its own */
}
