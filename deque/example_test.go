package deque_test

import (
	"fmt"

	"github.com/filch-go/filch/deque"
)

func ExampleNewChaseLev() {
	owner, thief := deque.NewChaseLev[string]()
	owner.Push("oldest")
	owner.Push("middle")
	owner.Push("newest")

	newest, _ := owner.Pop()
	oldest, result := thief.Steal()
	fmt.Println(newest, oldest, result, owner.Len())
	// Output: newest oldest Success 1
}

func ExampleOwner() {
	owner, _ := deque.NewChaseLev[int]()
	for i := range 3 {
		owner.Push(i)
	}
	for v, ok := owner.Pop(); ok; v, ok = owner.Pop() {
		fmt.Println(v)
	}
	// Output:
	// 2
	// 1
	// 0
}

func ExampleThief() {
	owner, thief := deque.NewChaseLev[int]()
	owner.Push(1)
	fmt.Println(thief.Steal())
	fmt.Println(thief.Steal())
	// Output:
	// 1 Success
	// 0 Empty
}

func ExampleResult() {
	_, thief := deque.NewChaseLev[int]()
	switch _, r := thief.Steal(); r {
	case deque.Success:
		fmt.Println("run it")
	case deque.Retry:
		fmt.Println("somebody came first: try again, or elsewhere")
	case deque.Empty:
		fmt.Println("nothing here")
	}
	// Output: nothing here
}

func ExampleOwner_Push() {
	owner, thief := deque.NewChaseLev[string]()
	owner.Push("a")
	owner.Push("b")
	fmt.Println(thief.Steal())
	// Output: a Success
}

func ExampleOwner_Pop() {
	owner, _ := deque.NewChaseLev[string]()
	owner.Push("a")
	owner.Push("b")
	fmt.Println(owner.Pop())
	// Output: b true
}

func ExampleOwner_Len() {
	owner, thief := deque.NewChaseLev[int]()
	owner.Push(1)
	owner.Push(2)
	thief.Steal()
	fmt.Println(owner.Len())
	// Output: 1
}

func ExampleThief_Steal() {
	owner, thief := deque.NewChaseLev[int]()
	for i := range 3 {
		owner.Push(i)
	}
	for {
		v, r := thief.Steal()
		if r == deque.Empty {
			break
		}
		if r == deque.Success { // and not Retry
			fmt.Println(v)
		}
	}
	// Output:
	// 0
	// 1
	// 2
}

func ExampleThief_Len() {
	owner, thief := deque.NewChaseLev[int]()
	owner.Push(1)
	fmt.Println(thief.Len())
	// Output: 1
}

func ExampleResult_String() {
	fmt.Println(deque.Success, deque.Empty, deque.Retry)
	// Output: Success Empty Retry
}

func ExampleNewHybrid() {
	owner, thief := deque.NewHybrid[string]()
	owner.Push("oldest")
	owner.Push("newest")
	fmt.Println(thief.Steal())
	fmt.Println(owner.Pop())
	// Output:
	// oldest Success
	// newest true
}

func ExampleNewMutex() {
	owner, thief := deque.NewMutex[string]()
	owner.Push("oldest")
	owner.Push("newest")
	fmt.Println(thief.Steal())
	fmt.Println(owner.Pop())
	// Output:
	// oldest Success
	// newest true
}

func ExampleThief_TrySteal() {
	_, first := deque.NewHybrid[string]()
	owner, second := deque.NewHybrid[string]()
	owner.Push("job")
	for _, victim := range []*deque.Thief[string]{first, second} {
		// A first pass goes where nobody is in the way.
		if job, r := victim.TrySteal(0); r == deque.Success {
			fmt.Println(job)
		}
	}
	// Output: job
}

func ExampleThief_StealHalf() {
	owner, thief := deque.NewMutex[int]()
	for i := range 7 {
		owner.Push(i)
	}
	loot := make([]int, 10)
	n, _ := thief.StealHalf(loot)
	fmt.Println(loot[:n], owner.Len())
	// Output: [0 1 2 3] 3
}
