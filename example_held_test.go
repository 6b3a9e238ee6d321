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

// The callback of a library completes a promise. What waits for it has no callbacks.
func ExampleNewPromise() {
	resolve := func(host string, done func(addr string, err error)) { go done("192.0.2.7", nil) } // of a library
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	addr := filch.NewPromise[string](p)
	resolve("example.org", func(a string, err error) { addr.Complete(a, err) })
	fmt.Println(addr.Future().Wait(ctx))
	// Output: 192.0.2.7 <nil>
}

// The first of several answers counts, here an error. What comes after the promise is dropped with it.
func ExamplePromise_Complete() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	answer := filch.NewPromise[int](p)
	later := filch.Submit(ctx, p, func(context.Context) (string, error) { return "never", nil }, filch.After(answer.Future()))
	fmt.Println(answer.Complete(0, errors.New("nobody is at home")), answer.Complete(42, nil))
	_, err := later.Wait(ctx)
	fmt.Println(err)
	// Output:
	// true false
	// filch: After: a task failed: nobody is at home
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
	db := p.Subpool(1, filch.WithName("db"))
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

// Two kinds of task on one pool, of which neither can keep the other from its workers.
func ExampleSubpool() {
	ctx := context.Background()
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	thumbnails := p.Subpool(3, filch.WithName("thumbnails"))
	mail := p.Subpool(1, filch.WithName("mail"))
	var images, letters []*filch.Future[int]
	for i := range 20 {
		images = append(images, filch.Submit(ctx, p, func(context.Context) (int, error) { return i * i, nil }, thumbnails))
		letters = append(letters, filch.Submit(ctx, p, func(context.Context) (int, error) { return -i, nil }, mail))
	}
	sum := 0
	for i := range images {
		a, _ := images[i].Wait(ctx)
		b, _ := letters[i].Wait(ctx)
		sum += a + b
	}
	fmt.Println(sum)
	// Output: 2280
}

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

// A slot is taken from when a task is in the queue of the pool until it has ended.
func ExampleSubpool_Running() {
	ctx := context.Background()
	p := filch.New()
	defer p.Close()
	db := p.Subpool(2)
	release := make(chan bool)
	g := p.Group(ctx)
	for range 5 {
		g.Go(func(context.Context) error { <-release; return nil }, db)
	}
	fmt.Println(db.Running())
	close(release)
	fmt.Println(g.Wait(), db.Running())
	// Output:
	// 2
	// <nil> 0
}

// What is asked for several times is computed once.
func ExampleMemo() {
	p := filch.New()
	defer p.Close()
	ctx := context.Background()
	var fib *filch.Memo[int, int]
	fib = filch.NewMemo(p, func(ctx context.Context, n int) (int, error) {
		if n < 2 {
			return n, nil
		}
		a, err := fib.Get(ctx, n-1)
		if err != nil {
			return 0, err
		}
		b, err := fib.Get(ctx, n-2)
		return a + b, err
	})
	fmt.Println(fib.Get(ctx, 40))
	// Output: 102334155 <nil>
}

func ExampleNewMemo() {
	p := filch.New()
	defer p.Close()
	files := map[string][]string{"main": {"net", "io"}, "net": {"io", "os"}, "io": nil, "os": {"io"}}
	var depth *filch.Memo[string, int] // of what a package imports, by way of others
	depth = filch.NewMemo(p, func(ctx context.Context, name string) (int, error) {
		deepest := 0
		for _, imported := range files[name] {
			d, err := depth.Get(ctx, imported)
			if err != nil {
				return 0, err
			}
			deepest = max(deepest, d+1)
		}
		return deepest, nil
	})
	fmt.Println(depth.Get(context.Background(), "main"))
	// Output: 3 <nil>
}

// A key that needs itself is an error, and not kept: it is computed when it is asked for again.
func ExampleMemo_Get() {
	p := filch.New()
	defer p.Close()
	needs := map[string]string{"house": "door", "door": "key", "key": "house"}
	var m *filch.Memo[string, bool]
	m = filch.NewMemo(p, func(ctx context.Context, k string) (bool, error) {
		if next, ok := needs[k]; ok {
			return m.Get(ctx, next)
		}
		return true, nil
	})
	_, err := m.Get(context.Background(), "house")
	fmt.Println(errors.Is(err, filch.ErrInside), err)
	delete(needs, "key")
	fmt.Println(m.Get(context.Background(), "house"))
	// Output:
	// true filch: Memo.Get: called from inside a task, which would wait for itself: house needs door needs key needs house
	// true <nil>
}

func ExampleMemo_Forget() {
	p := filch.New()
	defer p.Close()
	price := 10
	prices := filch.NewMemo(p, func(_ context.Context, ware string) (int, error) { return price, nil })
	ctx := context.Background()
	fmt.Println(prices.Get(ctx, "tea"))
	price = 12
	fmt.Println(prices.Get(ctx, "tea"))
	prices.Forget("tea")
	fmt.Println(prices.Get(ctx, "tea"))
	// Output:
	// 10 <nil>
	// 10 <nil>
	// 12 <nil>
}
