package workload

import (
	"fmt"
	"math/bits"

	"github.com/filch-go/filch"
)

var treesum = &Workload{
	Name:    "treesum",
	About:   "the sum of a complete binary tree: forks around memory accesses",
	Sizes:   []string{"1023", "131071", "1048575", "16777215"},
	Default: []Default{{Size: "1023"}, {Size: "131071"}, {Size: "1048575", Heavy: true}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("treesum", size, 1, 1<<28-1)
		if err != nil {
			return nil, err
		}
		depth := bits.Len(uint(n))
		if n != 1<<depth-1 {
			return nil, fmt.Errorf("treesum: size %q is not one less than a power of two", size)
		}
		// A small tree takes too little time to measure alone.
		times := min(max(1, 1<<20/n), 512)
		repeat := func(f func() int64) string {
			sum := f()
			for range times - 1 {
				if f() != sum {
					return "not always the same"
				}
			}
			return itoa(sum)
		}
		var root *tree
		return &Job{
			Load: func() {
				next := int64(0)
				root = grow(depth, &next)
			},
			Want:   itoa(int64(n) * int64(n+1) / 2),
			Times:  times,
			Forks:  int64(n / 2),
			Serial: func() string { return repeat(func() int64 { return serialSum(root) }) },
			Func: func(p filch.Scope) string {
				return repeat(func() int64 { return sumFunc.Call(p, root) })
			},
			Call: func(p filch.Scope) string {
				return repeat(func() int64 { return sumCallFunc.Call(p, root) })
			},
			Chain: func(p filch.Scope) string {
				return repeat(func() int64 { return sumChain.Call(p, root) })
			},
			Closures: func(w *filch.Worker, both Both) string {
				return repeat(func() int64 { return closureSum(w, both, root) })
			},
		}, nil
	},
}

// tree is a node of a complete binary tree: it has two children or none.
type tree struct {
	left, right *tree
	value       int64
}

func grow(depth int, next *int64) *tree {
	*next++
	t := &tree{value: *next}
	if depth > 1 {
		t.left = grow(depth-1, next)
		t.right = grow(depth-1, next)
	}
	return t
}

func serialSum(t *tree) int64 {
	if t.left == nil {
		return t.value
	}
	return t.value + serialSum(t.left) + serialSum(t.right)
}

var sumFunc = filch.NewFunc(sumBody)

func sumBody(f *filch.Frame[*tree, int64], t *tree) int64 {
	if t.left == nil {
		return t.value
	}
	h := f.Fork(t.right)
	sum := t.value + sumBody(f, t.left)
	return sum + f.Join(h)
}

var sumCallFunc = filch.NewFunc(func(f *filch.Frame[*tree, int64], t *tree) int64 {
	if t.left == nil {
		return t.value
	}
	h := f.Fork(t.right)
	sum := t.value + f.Call(t.left)
	return sum + f.Join(h)
})

var sumChain = filch.NewChain(sumLink)

func sumLink(l *filch.Link[*tree, int64], t *tree) int64 {
	if t.left == nil {
		return t.value
	}
	l.Fork(t.right)
	sum := t.value + sumLink(l.Next(), t.left)
	if l.TakeBack() {
		return sum + sumLink(l, t.right)
	}
	return sum + l.Join()
}

func closureSum(w *filch.Worker, both Both, t *tree) int64 {
	if t.left == nil {
		return t.value
	}
	var x, y int64
	both(w,
		func(w *filch.Worker) { x = closureSum(w, both, t.left) },
		func(w *filch.Worker) { y = closureSum(w, both, t.right) })
	return t.value + x + y
}
