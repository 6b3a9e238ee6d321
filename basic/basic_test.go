package basic_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/filch-go/filch/basic"
	"github.com/filch-go/filch/internal/conform"
)

func TestConformance(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			conform.Exercise(t, func() conform.Executor { return basic.New(workers) }, conform.Properties{Workers: workers})
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
