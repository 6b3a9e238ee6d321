package ordered_test

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/ordered"
)

// Four workers share jobs with priorities, and make new ones.
func Example() {
	const workers = 4
	jobs := ordered.New[int](workers, 0)
	for n := range 100 {
		jobs.Push(n%3, n)
	}
	var sum atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		local := jobs.Local(i)
		wg.Go(func() {
			for n, ok := local.Pop(); ok; n, ok = local.Pop() {
				if n >= 10 {
					local.Push(0, n/10) // at once, if it can be
				}
				sum.Add(int64(n % 10))
			}
		})
	}
	wg.Wait()
	fmt.Println(sum.Load(), jobs.Len())
	// Output: 900 0
}

func ExampleNew() {
	q := ordered.New[string](1, 0) // one worker, the usual room
	l := q.Local(0)
	l.Push(2, "later")
	l.Push(1, "now")
	fmt.Println(l.Pop())
	fmt.Println(l.Pop())
	fmt.Println(l.Pop())
	// Output:
	// now true
	// later true
	//  false
}

func ExampleQueue_Push() {
	q := ordered.New[string](2, 0)
	q.Push(0, "for the first that comes")
	fmt.Println(q.Local(1).Pop())
	// Output: for the first that comes true
}

func ExampleQueue() { ExampleQueue_Push() /* Output: for the first that comes true */ }

// Who has nothing to do takes from others.
func ExampleQueue_Local() {
	q := ordered.New[string](2, 0)
	q.Local(0).Push(5, "whenever")
	q.Local(0).Push(1, "soon")
	fmt.Println(q.Local(1).Pop())
	// Output: soon true
}

func ExampleLocal() { ExampleQueue_Local() /* Output: soon true */ }

func ExampleQueue_Len() {
	q := ordered.New[int](1, 0)
	q.Push(0, 1)
	q.Local(0).Push(0, 2)
	fmt.Println(q.Len(), q.Local(0).Len())
	// Output: 2 1
}

func ExampleLocal_Len() { ExampleQueue_Len() /* Output: 2 1 */ }

// With room for two, the third makes the worse of them, and itself, global.
func ExampleLocal_Push() {
	l := ordered.New[int](1, 2).Local(0)
	for n := range 4 {
		l.Push(n, n)
	}
	for n, ok := l.Pop(); ok; n, ok = l.Pop() {
		fmt.Print(n, " ")
	}
	// Output: 0 3 1 2
}

func ExampleLocal_Pop() { ExampleLocal_Push() /* Output: 0 3 1 2 */ }

func ExampleLocal_Next() {
	l := ordered.New[string](1, 0).Local(0)
	l.Push(-3, "urgent")
	fmt.Println(l.Next())
	// Output: -3 urgent true
}

func ExampleStrict() {
	l := ordered.New[int](1, 2, ordered.Strict()).Local(0)
	for n := range 4 {
		l.Push(n, n)
	}
	for n, ok := l.Pop(); ok; n, ok = l.Pop() {
		fmt.Print(n, " ")
	}
	// Output: 0 1 2 3
}

func ExampleOption() { ExampleStrict() /* Output: 0 1 2 3 */ }

// Deadlines are nearly all different: without it, thieves would take one at a time.
func ExampleStealBatch() {
	q := ordered.New[int](2, 0, ordered.StealBatch(8))
	for n := range 10 {
		q.Local(0).Push(1_000_000+n, n)
	}
	q.Local(1).Pop()
	fmt.Println(q.Local(0).Len(), q.Local(1).Len())
	// Output: 5 4
}
