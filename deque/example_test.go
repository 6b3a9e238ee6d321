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
