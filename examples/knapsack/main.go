// Knapsack fills a knapsack as well as can be: branch and bound, the most promising
// node first. Each node that is put off is a task, whose priority is the most that
// could come of it; so what is found early lets most of the rest be dropped.
package main

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

type item struct{ value, weight int }

// knapsack is a problem, with the items of most value for their weight first.
type knapsack struct {
	items []item
	room  int
}

// newKnapsack makes up one with items whose values are their weights and a little, for
// that is what makes it hard.
func newKnapsack(n int, seed uint64) knapsack {
	r := rand.New(rand.NewPCG(seed, 0))
	k := knapsack{items: make([]item, n)}
	for i := range k.items {
		w := 1 + r.IntN(10_000)
		k.items[i] = item{w + 1000, w}
		k.room += w
	}
	k.room /= 2
	slices.SortFunc(k.items, func(a, b item) int { return cmp.Compare(b.value*a.weight, a.value*b.weight) })
	return k
}

// node is a choice for the items before next.
type node struct{ next, value, room int }

// bound returns the most that can come of n: if items could be cut.
func (k knapsack) bound(n node) int {
	for ; n.next < len(k.items) && k.items[n.next].weight <= n.room; n.next++ {
		n.value += k.items[n.next].value
		n.room -= k.items[n.next].weight
	}
	if n.next == len(k.items) {
		return n.value
	}
	last := k.items[n.next]
	return n.value + last.value*n.room/last.weight
}

// search is what the tasks share.
type search struct {
	knapsack
	grain int
	best  atomic.Int64
	nodes atomic.Int64
}

// better notes a value that can be had.
func (s *search) better(value int) {
	for old := s.best.Load(); int64(value) > old; old = s.best.Load() {
		if s.best.CompareAndSwap(old, int64(value)) {
			return
		}
	}
}

// dive goes down from n, taking each item that fits, and hands to putOff what comes of
// leaving it, if that can be better than the best so far. It returns how many nodes it
// has been to.
func (s *search) dive(n node, putOff func(n node, bound int)) (nodes int) {
	for ; n.next < len(s.items) && int64(s.bound(n)) > s.best.Load(); nodes++ {
		it := s.items[n.next]
		without := node{n.next + 1, n.value, n.room}
		if it.weight > n.room {
			n = without
			continue
		}
		if bound := s.bound(without); int64(bound) > s.best.Load() {
			putOff(without, bound)
		}
		n = node{n.next + 1, n.value + it.value, n.room - it.weight}
		s.better(n.value)
	}
	return nodes
}

// grain is how many nodes are gone to at a time, so that it is worth a task: a node
// takes some nanoseconds.
const grain = 10_000

// expand goes to n and about s.grain nodes below it, the deepest first, and hands those
// that are left to putOff.
func (s *search) expand(n node, putOff func(n node, bound int)) {
	todo := []open{{n, 0}}
	nodes := 0
	for len(todo) > 0 && nodes < s.grain {
		last := len(todo) - 1
		n := todo[last].node
		todo = todo[:last]
		nodes += s.dive(n, func(n node, bound int) { todo = append(todo, open{n, bound}) })
	}
	s.nodes.Add(int64(nodes))
	for _, o := range todo {
		putOff(o.node, o.bound)
	}
}

// parallel solves k on a pool.
func parallel(k knapsack, p *filch.Pool, grain int) (best, nodes int64, err error) {
	s := &search{knapsack: k, grain: grain}
	g := p.Group(context.Background())
	var putOff func(n node, bound int)
	putOff = func(n node, bound int) {
		g.Go(func(context.Context) error {
			s.expand(n, putOff)
			return nil
		}, filch.AtPriority(-bound))
	}
	putOff(node{0, 0, k.room}, 0)
	err = g.Wait()
	return s.best.Load(), s.nodes.Load(), err
}

// open is a node that was put off, of the serial search.
type open struct {
	node
	bound int
}

type opens []open

func (o opens) Len() int           { return len(o) }
func (o opens) Less(i, j int) bool { return o[i].bound > o[j].bound }
func (o opens) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *opens) Push(x any)        { *o = append(*o, x.(open)) }
func (o *opens) Pop() any {
	last := len(*o) - 1
	x := (*o)[last]
	*o = (*o)[:last]
	return x
}

// serial solves k with a heap.
func serial(k knapsack, grain int) (best, nodes int64) {
	s := &search{knapsack: k, grain: grain}
	todo := &opens{{node{0, 0, k.room}, 0}}
	for todo.Len() > 0 {
		s.expand(heap.Pop(todo).(open).node, func(n node, bound int) { heap.Push(todo, open{n, bound}) })
	}
	return s.best.Load(), s.nodes.Load()
}

func main() {
	if err := run(70, 16); err != nil {
		fmt.Fprintln(os.Stderr, "knapsack:", err)
		os.Exit(1)
	}
}

func run(items int, seed uint64) error {
	k := newKnapsack(items, seed)
	start := time.Now()
	want, nodes := serial(k, grain)
	took := time.Since(start)
	fmt.Printf("serial:    value %d, %d nodes, %v\n", want, nodes, took)
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.ByPriority))
		start := time.Now()
		best, nodes, err := parallel(k, p, grain)
		d := time.Since(start)
		p.Close()
		if err != nil {
			return err
		}
		if best != want {
			return fmt.Errorf("%d workers: value %d, not %d", workers, best, want)
		}
		fmt.Printf("%d workers: value %d, %d nodes, %v, %.2f times as fast\n", workers, best, nodes, d, took.Seconds()/d.Seconds())
	}
	return nil
}
