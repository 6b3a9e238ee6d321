package ordered_test

import (
	"fmt"

	"github.com/filch-go/filch/ordered"
)

func ExampleAddressable() {
	q := ordered.NewAddressable[string](1, 0)
	worker := q.Local(0)
	q.Push(3, "sweep")
	cook := q.Push(2, "cook")
	shop := q.Push(1, "shop")
	fmt.Println(shop.Remove()) // someone else has done it
	fmt.Println(cook.Fix(9))   // it is too early
	for v, ok := worker.Pop(); ok; v, ok = worker.Pop() {
		fmt.Println(v)
	}
	fmt.Println(cook.Remove())
	// Output:
	// shop true
	// true
	// sweep
	// cook
	//  false
}

func ExampleNewAddressable() {
	q := ordered.NewAddressable[string](2, 16) // two local queues, for 16 values each
	q.Local(0).Push(1, "tea")
	fmt.Println(q.Local(1).Pop()) // it steals
	// Output: tea true
}

func ExampleAddressable_Push() {
	q := ordered.NewAddressable[string](1, 0)
	tea := q.Push(1, "tea")
	fmt.Println(tea.Remove())
	// Output: tea true
}

func ExampleAddressable_Local() {
	q := ordered.NewAddressable[string](1, 0)
	q.Push(1, "tea")
	fmt.Println(q.Local(0).Pop())
	// Output: tea true
}

func ExampleAddressable_Len() {
	q := ordered.NewAddressable[string](1, 0)
	q.Push(1, "tea").Remove()
	fmt.Println(q.Local(0).Pop())
	fmt.Println(q.Len())
	// Output:
	//  false
	// 0
}

func ExampleAddressableLocal() {
	l := ordered.NewAddressable[string](1, 0).Local(0) // of one goroutine
	l.Push(2, "bread")
	l.Push(1, "tea")
	fmt.Println(l.Pop())
	fmt.Println(l.Pop())
	// Output:
	// tea true
	// bread true
}

func ExampleAddressableLocal_Push() {
	l := ordered.NewAddressable[string](1, 0).Local(0)
	tea := l.Push(1, "tea")
	fmt.Println(tea.Remove())
	// Output: tea true
}

func ExampleAddressableLocal_Pop() {
	l := ordered.NewAddressable[string](1, 0).Local(0)
	l.Push(1, "tea")
	fmt.Println(l.Pop())
	fmt.Println(l.Pop())
	// Output:
	// tea true
	//  false
}

func ExampleAddressableLocal_Next() {
	l := ordered.NewAddressable[string](1, 0).Local(0)
	l.Push(7, "tea").Fix(3)
	fmt.Println(l.Next())
	// Output: 3 tea true
}

func ExampleAddressableLocal_Len() {
	l := ordered.NewAddressable[string](1, 8).Local(0)
	l.Push(1, "tea")
	fmt.Println(l.Len())
	// Output: 1
}

func ExampleAddressableLocal_Fix() {
	l := ordered.NewAddressable[string](1, 0).Local(0)
	tea := l.Push(2, "tea")
	l.Push(1, "bread")
	fmt.Println(l.Fix(tea, 0))
	fmt.Println(l.Pop())
	// Output:
	// true
	// tea true
}

func ExampleHandle() {
	q := ordered.NewAddressable[string](1, 0)
	tea := q.Push(1, "tea")
	q.Local(0).Pop()
	fmt.Println(tea.Fix(0)) // it was taken
	// Output: false
}

func ExampleHandle_Fix() {
	q := ordered.NewAddressable[string](1, 0)
	q.Push(2, "bread")
	tea := q.Push(3, "tea")
	fmt.Println(tea.Fix(1))
	fmt.Println(q.Local(0).Pop())
	// Output:
	// true
	// tea true
}

func ExampleHandle_Remove() {
	q := ordered.NewAddressable[string](1, 0)
	tea := q.Push(1, "tea")
	fmt.Println(tea.Remove())
	fmt.Println(tea.Remove())
	// Output:
	// tea true
	//  false
}
