package basic_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/filch-go/filch/basic"
	"github.com/filch-go/filch/internal/conform"
)

// executor hands the context on, which the pool knows nothing of.
type executor struct{ *basic.Pool }

func (e executor) Run(ctx context.Context, fs ...func(ctx context.Context)) {
	plain := make([]func(), len(fs))
	for i, f := range fs {
		plain[i] = func() { f(ctx) }
	}
	e.Pool.Run(plain...)
}

func TestConformance(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			conform.Exercise(t, func() conform.Executor { return executor{basic.New(workers)} }, conform.Properties{Workers: workers})
		})
	}
}

// tasks gives each function an error.
type tasks struct{ p *basic.Pool }

func (e tasks) Submit(ctx context.Context, f func(ctx context.Context) error) func(ctx context.Context) error {
	done := make(chan bool)
	err := errors.New("closed")
	func() {
		defer func() {
			if recover() != nil {
				close(done)
			}
		}()
		e.p.Go(func() { err = f(ctx); close(done) })
	}()
	return func(context.Context) error { <-done; return err }
}

func (e tasks) Shutdown(context.Context) error { e.p.Close(); return nil }

func (e tasks) Close() {}

func TestTaskConformance(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			conform.ExerciseTasks(t, func() conform.TaskExecutor { return tasks{basic.New(workers)} }, conform.TaskProperties{Workers: workers})
		})
	}
}

func TestFirstComeFirstServed(t *testing.T) {
	p := basic.New(1)
	var got []int
	for i := range 5000 {
		p.Go(func() { got = append(got, i) })
	}
	p.Close()
	for i, v := range got {
		if i != v {
			t.Fatalf("the %dth to run was %d", i, v)
		}
	}
	if len(got) != 5000 {
		t.Errorf("%d ran", len(got))
	}
}

func TestMisusePanics(t *testing.T) {
	p := basic.New(1)
	defer p.Close()
	for name, f := range map[string]func(){
		"New(0)": func() { basic.New(0) },
		"nil":    func() { p.Go(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func ExampleNew() {
	p := basic.New(2)
	defer p.Close()
	var mu sync.Mutex
	sum := 0
	var fs []func()
	for i := range 10 {
		fs = append(fs, func() {
			mu.Lock()
			defer mu.Unlock()
			sum += i
		})
	}
	p.Run(fs...)
	fmt.Println(sum)
	// Output: 45
}

func ExamplePool_Go() {
	p := basic.New(1)
	p.Go(func() { fmt.Println("first") })
	p.Go(func() { fmt.Println("second") })
	p.Close() // waits for both
	// Output:
	// first
	// second
}

func ExamplePool() {
	p := basic.New(1) // one worker: first come, first served
	defer p.Close()
	p.Run(
		func() { fmt.Println("first") },
		func() { fmt.Println("second") })
	// Output:
	// first
	// second
}

func ExamplePool_Run() {
	p := basic.New(4)
	defer p.Close()
	squares := make([]int, 5)
	var fs []func()
	for i := range squares {
		fs = append(fs, func() { squares[i] = i * i })
	}
	p.Run(fs...)
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}

func ExamplePool_Close() {
	p := basic.New(2)
	done := make([]bool, 3)
	for i := range done {
		p.Go(func() { done[i] = true })
	}
	p.Close()
	fmt.Println(done)
	// Output: [true true true]
}
