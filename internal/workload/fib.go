package workload

import (
	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

var fib = &Workload{
	Name:    "fib",
	About:   "Fibonacci numbers by the naive recursion: nothing but forks",
	Sizes:   []string{"24", "27", "30", "35", "38", "40"},
	Default: []Default{{Size: "24"}, {Size: "38", Heavy: true}},
	Strand:  "30",
	Prepare: func(size string, _ Env) (*Job, error) {
		steps, err := number("fib", size, 0, 50)
		if err != nil {
			return nil, err
		}
		n, a, b := int64(steps), int64(0), int64(1)
		for range steps {
			a, b = b, a+b
		}
		return &Job{
			Want:   itoa(a),
			Forks:  b - 1,
			Serial: func() string { return itoa(serialFib(n)) },
			Func:   func(p filch.Scope) string { return itoa(fibFunc.Call(p, n)) },
			Call:   func(p filch.Scope) string { return itoa(fibCallFunc.Call(p, n)) },
			Chain:  func(p filch.Scope) string { return itoa(fibChain.Call(p, n)) },
			Closures: func(w *filch.Worker, both Both) string {
				return itoa(closureFib(w, both, n))
			},
			Strand:        func(s *strand.Strand) string { return itoa(strandFib(s, n)) },
			StrandClosure: func(s *strand.Strand) string { return itoa(strandClosureFib(s, n)) },
		}, nil
	},
}

func serialFib(n int64) int64 {
	if n < 2 {
		return n
	}
	return serialFib(n-1) + serialFib(n-2)
}

var fibFunc = filch.NewFunc(fibBody)

func fibBody(f *filch.Frame[int64, int64], n int64) int64 {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := fibBody(f, n-2)
	return f.Join(h) + b
}

var fibCallFunc = filch.NewFunc(func(f *filch.Frame[int64, int64], n int64) int64 {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
})

var fibChain = filch.NewChain(fibLink)

func fibLink(l *filch.Link[int64, int64], n int64) int64 {
	if n < 2 {
		return n
	}
	l.Fork(n - 1)
	b := fibLink(l.Next(), n-2)
	if l.TakeBack() {
		return fibLink(l, n-1) + b
	}
	return l.Join() + b
}

func closureFib(w *filch.Worker, both Both, n int64) int64 {
	if n < 2 {
		return n
	}
	var a, b int64
	both(w,
		func(w *filch.Worker) { b = closureFib(w, both, n-2) },
		func(w *filch.Worker) { a = closureFib(w, both, n-1) })
	return a + b
}

func strandFib(s *strand.Strand, n int64) int64 {
	if n < 2 {
		return n
	}
	a := strand.SpawnCall(s, strandFib, n-1)
	b := strandFib(s, n-2)
	s.Sync()
	return a.Get() + b
}

func strandClosureFib(s *strand.Strand, n int64) int64 {
	if n < 2 {
		return n
	}
	var a int64
	s.Spawn(func(s *strand.Strand) { a = strandClosureFib(s, n-1) })
	b := strandClosureFib(s, n-2)
	s.Sync()
	return a + b
}
