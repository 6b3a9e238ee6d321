package steal_test

import (
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/steal"
)

// partners is a sixth order: workers 0 and 1 look at each other before they look at the rest, and so do 2 and 3, and so on.
type partners struct{}

func (partners) String() string           { return "Partners" }
func (partners) Thief(uint64) steal.Thief { return partners{} }

func (partners) Look(l *steal.Look) {
	if i, ok := l.Find(l.Self() ^ 1); ok {
		l.First(i)
	}
}

var fib = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
})

// An order of your own is a type with two methods, and its thieves have one.
func Example() {
	p := filch.New(filch.WithWorkers(4), filch.WithStealing(partners{}))
	fmt.Println(fib.Call(p, 20))
	// Output: 6765
}

// A test of an order needs no pool.
func ExampleLook() {
	var l steal.Look
	l.Begin(steal.Numbered(6), 2, steal.Glance)
	partners{}.Look(&l)
	victims(&l)
	// Output: 3 4 5 0 1
}

func ExampleOrder() {
	for _, from := range steal.Orders() {
		p := filch.New(filch.WithWorkers(4), filch.WithStealing(from))
		fmt.Println(from, fib.Call(p, 20))
	}
	// Output:
	// RandomStart 6765
	// RoundRobin 6765
	// Localized 6765
	// Nearest 6765
	// Adaptive 6765
}

func ExampleOrders() {
	fmt.Println(steal.Orders())
	// Output: [RandomStart RoundRobin Localized Nearest Adaptive]
}

// A thief has a state of its own.
func ExampleThief() {
	thief := steal.RoundRobin.Thief(0)
	for range 2 {
		var l steal.Look
		l.Begin(steal.Numbered(100), 0, 3)
		thief.Look(&l)
		victims(&l)
	}
	// Output: 1 2 3 4 5 6
}

// avenger looks first at who has robbed it, for good.
type avenger struct{ robber int }

func (a *avenger) Robbed(by int) { a.robber = by }

func (a *avenger) Look(l *steal.Look) {
	if i, ok := l.Find(a.robber); ok {
		l.First(i)
	}
}

func ExampleOnRobbed() {
	var a steal.Thief = &avenger{robber: -1}
	a.(steal.OnRobbed).Robbed(5)
	var l steal.Look
	l.Begin(steal.Numbered(6), 2, 2)
	a.Look(&l)
	fmt.Println(l.Next())
	fmt.Println(l.Next())
	// Output:
	// 5 true
	// 3 true
}

// miner comes back to where it has found something, and waits a turn more after each look in vain.
type miner struct{ seam int }

func (m *miner) Stole(from int)            { m.seam = from }
func (m *miner) Missed(row int) (rest int) { return row - 1 }

func (m *miner) Look(l *steal.Look) {
	if i, ok := l.Find(m.seam); ok {
		l.Start(i)
	}
}

func ExampleOnStole() {
	m := &miner{}
	m.Stole(4)
	var l steal.Look
	l.Begin(steal.Numbered(6), 2, 5)
	m.Look(&l)
	victims(&l)
	// Output: 4 5 0 1 3
}

func ExampleOnMissed() {
	var t steal.OnMissed = &miner{}
	fmt.Println(t.Missed(1), t.Missed(2), t.Missed(3))
	// Output: 0 1 2
}

func ExampleLook_Start() {
	var l steal.Look
	l.Begin(steal.Numbered(5), 0, 5)
	l.Start(2)
	victims(&l)
	// Output: 3 4 1 2
}

func ExampleLook_First() {
	var l steal.Look
	l.Begin(steal.Numbered(5), 0, 5)
	l.First(3)
	l.First(1)
	victims(&l)
	// Output: 4 2 1 3
}

func ExampleLook_Begin() {
	var l steal.Look
	l.Begin(steal.Numbered(5), 2, 4)
	victims(&l)
	l.Begin(steal.Numbered(5), -1, 4) // who looks is none of them
	victims(&l)
	// Output: 3 4 0 1 0 1 2 3
}

func ExampleLook_Next() {
	var l steal.Look
	l.Begin(steal.Numbered(2), 0, steal.Glance)
	fmt.Println(l.Next())
	fmt.Println(l.Next())
	// Output:
	// 1 true
	// 0 false
}

func ExampleLook_Len() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Len())
	// Output: 99
}

func ExampleLook_Turns() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Turns())
	// Output: 32
}

// Indexes go around from the worker behind the thief.
func ExampleLook_Number() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Number(0), l.Number(98))
	// Output: 3 1
}

func ExampleLook_Find() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Find(1))
	fmt.Println(l.Find(2)) // the thief
	// Output:
	// 98 true
	// 0 false
}

func ExampleLook_Self() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Self())
	// Output: 2
}

func ExampleLook_Here() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Here())
	// Output: 2
}

func ExampleLook_Processor() {
	var l steal.Look
	l.Begin(steal.Numbered(100), 2, steal.Glance)
	fmt.Println(l.Processor(0))
	// Output: 3
}

// boards is a machine whose processors 0 to 3 are on one board, 4 to 7 on the next, and so on.
type boards struct{ current int }

func (b boards) Processor() int        { return b.current }
func (b boards) Distance(x, y int) int { return max(x/4-y/4, y/4-x/4) }

func ExampleNearestOn() {
	order := steal.NearestOn(boards{})
	var l steal.Look
	l.Begin(steal.Numbered(8), 5, 3)
	order.Thief(1).Look(&l)
	for victim, ok := l.Next(); ok; victim, ok = l.Next() {
		fmt.Println(victim >= 4)
	}
	// Output:
	// true
	// true
	// true
}

func ExampleMachine() {
	var m steal.Machine = boards{}
	fmt.Println(m.Distance(0, 3), m.Distance(0, 4), m.Distance(0, 15))
	// Output: 0 1 3
}

// An order that goes by where workers run says where the caller does.
func ExampleLocated() {
	_, located := steal.Nearest.(steal.Located)
	_, random := steal.RandomStart.(steal.Located)
	fmt.Println(located, random)
	// Output: true false
}

// Workers that are not in the order of their numbers.
type crew []int

func (c crew) Len() int             { return len(c) }
func (c crew) Number(place int) int { return c[place] }
func (c crew) Processor(int) int    { return -1 }

func (c crew) Place(number int) int {
	for place, n := range c {
		if n == number {
			return place
		}
	}
	return -1
}

func ExampleWorkers() {
	c := crew{7, 3, 9, 6}
	var l steal.Look
	l.Begin(c, 1, 3) // worker 3 looks
	partners{}.Look(&l)
	for place, ok := l.Next(); ok; place, ok = l.Next() {
		fmt.Print(c[place], " ")
	}
	// Output: 9 6 7
}

func ExampleNumbered() {
	c := steal.Numbered(4)
	fmt.Println(c.Len(), c.Number(3), c.Place(3), c.Place(4), c.Processor(2))
	// Output: 4 3 3 -1 2
}

// victims prints whom a look comes to.
func victims(l *steal.Look) {
	for victim, ok := l.Next(); ok; victim, ok = l.Next() {
		fmt.Print(victim, " ")
	}
}
