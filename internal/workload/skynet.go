package workload

import (
	"fmt"

	"github.com/filch-go/filch"
)

var skynet = &Workload{
	Name:    "skynet",
	About:   "a tree with ten children a node; the leaves' numbers are summed",
	Sizes:   []string{"10000", "100000", "1000000"},
	Default: []Default{{Size: "10000"}, {Size: "1000000", Heavy: true}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("skynet", size, 1, 1e9)
		if err != nil {
			return nil, err
		}
		for k := n; k > 1; k /= 10 {
			if k%10 != 0 {
				return nil, fmt.Errorf("skynet: size %q is not a power of ten", size)
			}
		}
		root := sky{size: n}
		return &Job{
			Want:   itoa(int64(n) * int64(n-1) / 2),
			Forks:  int64(n - 1),
			Serial: func() string { return itoa(serialSky(0, n)) },
			Func:   func(p filch.Scope) string { return itoa(skyFunc.Call(p, root)) },
			Chain:  func(p filch.Scope) string { return itoa(skyChain.Call(p, skyRest{0, n, 10})) },
			Closures: func(w *filch.Worker, both Both) string {
				return itoa(closureSky(w, both, 0, n))
			},
		}, nil
	},
}

func serialSky(first, size int) int64 {
	if size == 1 {
		return int64(first)
	}
	sum := int64(0)
	size /= 10
	for range 10 {
		sum += serialSky(first, size)
		first += size
	}
	return sum
}

// sky is a node with size leaves, numbered from first.
type sky struct{ first, size int }

var skyFunc = filch.NewFunc(skyBody)

func skyBody(f *filch.Frame[sky, int64], s sky) int64 {
	if s.size == 1 {
		return int64(s.first)
	}
	var hs [9]filch.Fork
	child := sky{first: s.first, size: s.size / 10}
	for i := range hs {
		child.first += child.size
		hs[i] = f.Fork(child)
	}
	child.first = s.first
	sum := skyBody(f, child)
	for i := len(hs) - 1; i >= 0; i-- {
		sum += f.Join(hs[i])
	}
	return sum
}

// skyRest is a node with size leaves, of which only the last children are left, with
// leaves from first on.
type skyRest struct{ first, size, children int }

var skyChain = filch.NewChain(skyLink)

func skyLink(l *filch.Link[skyRest, int64], s skyRest) int64 {
	if s.size == 1 {
		return int64(s.first)
	}
	sum := int64(0)
	size := s.size / 10
	for {
		child := skyRest{s.first, size, 10}
		s.first += size
		s.children--
		if s.children == 0 {
			return sum + skyLink(l, child)
		}
		l.Fork(s)
		sum += skyLink(l.Next(), child)
		if !l.TakeBack() {
			return sum + l.Join()
		}
	}
}

func closureSky(w *filch.Worker, both Both, first, size int) int64 {
	if size == 1 {
		return int64(first)
	}
	var sums [10]int64
	size /= 10
	split(w, both, 0, 10, func(w *filch.Worker, i int) {
		sums[i] = closureSky(w, both, first+i*size, size)
	})
	sum := int64(0)
	for _, s := range sums {
		sum += s
	}
	return sum
}
