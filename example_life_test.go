package filch_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/filch-go/filch"
)

func ExampleGroup_TryGo() {
	p := filch.New()
	defer p.Close()
	g := p.Group(context.Background(), filch.GroupLimit(1))
	release := make(chan bool)
	fmt.Println(g.TryGo(func(context.Context) error { <-release; return nil }))
	fmt.Println(g.TryGo(func(context.Context) error { return nil }))
	close(release)
	fmt.Println(g.Wait())
	// Output:
	// true
	// false
	// <nil>
}

func ExampleGroup_Done() {
	p := filch.New()
	defer p.Close()
	g := p.Group(context.Background())
	for range 3 {
		g.Go(func(context.Context) error { return nil })
	}
	interrupted := make(chan bool) // of a signal, perhaps
	select {
	case <-g.Done():
		fmt.Println("done:", g.Wait())
	case <-interrupted:
		fmt.Println("interrupted:", g.Stop())
	}
	// Output: done: <nil>
}

func ExampleResultGroup_TryGo() {
	p := filch.New()
	defer p.Close()
	g := filch.NewResultGroup[int](context.Background(), p, filch.GroupLimit(2))
	release := make(chan bool)
	for i := range 5 {
		g.TryGo(func(context.Context) (int, error) { <-release; return i, nil })
	}
	close(release)
	fmt.Println(g.Wait())
	// Output: [0 1] <nil>
}

func ExampleResultGroup_Done() {
	p := filch.New()
	defer p.Close()
	g := filch.NewResultGroup[int](context.Background(), p)
	g.Go(func(context.Context) (int, error) { return 42, nil })
	<-g.Done()
	fmt.Println(g.Wait()) // does not block
	// Output: [42] <nil>
}

// What tasks share is looked at while none runs.
func ExamplePool_PauseAndWait() {
	p := filch.New()
	defer p.Close()
	ctx := context.Background()
	halves := [2]int{} // a task moves one from here to there, by two steps
	var mu sync.Mutex
	for range 1000 {
		p.Go(ctx, func(context.Context) {
			mu.Lock()
			halves[0]--
			mu.Unlock()
			mu.Lock()
			halves[1]++
			mu.Unlock()
		})
	}
	if err := p.PauseAndWait(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the sum is", halves[0]+halves[1])
	p.Resume()
	// Output: the sum is 0
}

func ExamplePool_Drain() {
	p := filch.New()
	ctx := context.Background()
	var mu sync.Mutex
	count := 0
	for range 10 {
		p.Go(ctx, func(ctx context.Context) {
			p.Go(ctx, func(context.Context) {
				mu.Lock()
				defer mu.Unlock()
				count++
			})
		})
	}
	fmt.Println(p.Drain()) // returns at once
	fmt.Println(p.Go(ctx, func(context.Context) {}))
	<-p.Done()
	fmt.Println(count)
	// Output:
	// <nil>
	// filch: the pool is closed
	// 10
}

func ExamplePool_Done() {
	p := filch.New()
	flushed := make(chan bool)
	go func() { // whatever ends the pool
		<-p.Done()
		fmt.Println("write what was counted")
		close(flushed)
	}()
	p.Go(context.Background(), func(context.Context) { fmt.Println("a task") })
	p.Shutdown(context.Background())
	<-flushed
	// Output:
	// a task
	// write what was counted
}

// Each task holds one of the slots, and gives it back, whether it runs or not.
func ExampleOnDrop() {
	p := filch.New(filch.WithWorkers(1))
	slots := make(chan bool, 3)
	release := func() { <-slots }
	p.Pause()
	for range 3 {
		slots <- true
		p.Go(context.Background(), func(context.Context) { release() },
			filch.OnDrop(func(err error) { fmt.Println(err); release() }))
	}
	p.Close()
	fmt.Println(len(slots), "slots are taken")
	// Output:
	// filch: the pool is closed
	// filch: the pool is closed
	// filch: the pool is closed
	// 0 slots are taken
}
