package filch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing/fstest"

	"github.com/filch-go/filch"
)

func Example() {
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1) // others may take it
		b := f.Call(n - 2)
		return f.Join(h) + b
	})
	fmt.Println(fib.Call(filch.Default(), 25))
	// Output: 75025
}

func ExampleNew() {
	p := filch.New(filch.WithWorkers(4))
	p.Do(func(w *filch.Worker) {
		w.Join(
			func(*filch.Worker) { /* one half */ },
			func(*filch.Worker) { /* the other, perhaps at the same time */ })
	})
	fmt.Println(p.Stats().Workers)
	// Output: 4
}

func ExampleOption() {
	opts := []filch.Option{filch.WithWorkers(2)}
	fmt.Println(filch.New(opts...).Stats().Workers)
	// Output: 2
}

func ExampleWithWorkers() {
	// One worker runs everything in the order of the serial program.
	p := filch.New(filch.WithWorkers(1))
	p.Do(func(w *filch.Worker) {
		w.Join(
			func(*filch.Worker) { fmt.Println("first") },
			func(*filch.Worker) { fmt.Println("second") })
	})
	// Output:
	// first
	// second
}

func ExampleDefault() {
	fmt.Println(filch.Default().Stats().Workers == runtime.GOMAXPROCS(0))
	// Output: true
}

// folder is what the examples look at.
var folder = fstest.MapFS{
	"src/a.go": {}, "src/b.go": {}, "src/x/c.go": {}, "src/x/d.go": {}, "src/x/y/e.go": {},
}

// countFiles counts the files of a folder and of all below it, the folders at
// the same time. It takes a Scope, so it can be called from anywhere, and from
// inside fork-join work without more goroutines.
func countFiles(s filch.Scope, fsys fs.FS, dir string) (n int) {
	entries, _ := fs.ReadDir(fsys, dir)
	s.Do(func(w *filch.Worker) { n = countEntries(w, fsys, dir, entries) })
	return n
}

func countEntries(w *filch.Worker, fsys fs.FS, dir string, entries []fs.DirEntry) int {
	switch {
	case len(entries) == 0:
		return 0
	case len(entries) == 1 && entries[0].IsDir():
		return countFiles(w, fsys, dir+"/"+entries[0].Name())
	case len(entries) == 1:
		return 1
	}
	half := len(entries) / 2
	a, b := filch.Join(w,
		func(w *filch.Worker) int { return countEntries(w, fsys, dir, entries[:half]) },
		func(w *filch.Worker) int { return countEntries(w, fsys, dir, entries[half:]) })
	return a + b
}

func ExampleScope() {
	fmt.Println(countFiles(filch.Default(), folder, "src"))
	// Output: 5
}

func ExamplePool_Do() {
	p := filch.New()
	sum := 0
	p.Do(func(w *filch.Worker) {
		a, b := filch.Join(w,
			func(*filch.Worker) int { return 1 + 2 },
			func(*filch.Worker) int { return 3 + 4 })
		sum = a + b
	})
	fmt.Println(sum)
	// Output: 10
}

func ExamplePool() {
	p := filch.New()
	defer p.Close()
	fmt.Println(square.Call(p, 7))
	// Output: 49
}

func ExamplePool_Close() {
	p := filch.New()
	p.Do(func(*filch.Worker) {})
	fmt.Println(p.Close())
	// Output: <nil>
}

func ExamplePool_Stats() {
	p := filch.New(filch.WithWorkers(2))
	p.Do(func(w *filch.Worker) {
		met := make(chan bool)
		w.Join( // both must run at once to meet, so the second is stolen
			func(*filch.Worker) { met <- true },
			func(*filch.Worker) { <-met })
	})
	p.Close()
	fmt.Println(p.Stats().Steals)
	// Output: 1
}

func ExamplePool_Name() {
	fmt.Println(filch.New(filch.WithName("kitchen")).Name())
	fmt.Println(filch.Default().Name())
	// Output:
	// kitchen
	// default
}

func ExampleStats() {
	var s filch.Stats = filch.New(filch.WithWorkers(3)).Stats()
	fmt.Println(s.Workers, s.Active, s.Steals)
	// Output: 3 0 0
}

func ExampleWorker() {
	// What is handed a Worker passes it on to what it calls.
	var depth func(w *filch.Worker, tree []any) int
	depth = func(w *filch.Worker, tree []any) int {
		if len(tree) == 0 {
			return 0
		}
		a, b := filch.Join(w,
			func(w *filch.Worker) int {
				sub, ok := tree[0].([]any)
				if !ok {
					return 1
				}
				return 1 + depth(w, sub)
			},
			func(w *filch.Worker) int { return depth(w, tree[1:]) })
		return max(a, b)
	}
	filch.Default().Do(func(w *filch.Worker) {
		fmt.Println(depth(w, []any{1, []any{2, []any{3}}, 4}))
	})
	// Output: 3
}

func ExampleWorker_Do() {
	// half takes a Scope; inside fork-join work that is the worker.
	half := func(s filch.Scope, n int) (h int) {
		s.Do(func(w *filch.Worker) { h = n / 2 })
		return h
	}
	filch.Default().Do(func(w *filch.Worker) { fmt.Println(half(w, 84)) })
	// Output: 42
}

func ExampleWorker_Join() {
	words := []string{"steal", "fork", "join", "deque"}
	filch.Default().Do(func(w *filch.Worker) {
		w.Join(
			func(*filch.Worker) { words[0] = strings.ToUpper(words[0]) },
			func(*filch.Worker) { words[1] = strings.ToUpper(words[1]) })
	})
	fmt.Println(words)
	// Output: [STEAL FORK join deque]
}

func ExampleJoin() {
	filch.Default().Do(func(w *filch.Worker) {
		n, s := filch.Join(w,
			func(*filch.Worker) int { return 6 * 7 },
			func(*filch.Worker) string { return "both at once" })
		fmt.Println(n, s)
	})
	// Output: 42 both at once
}

// A sum that is divided only when other workers have nothing to do.
func ExampleWorker_Demand() {
	type span struct{ lo, hi int }
	sum := filch.NewFunc(func(f *filch.Frame[span, int], s span) (n int) {
		var forks []filch.Fork
		for s.lo < s.hi {
			if s.hi-s.lo > 1000 && f.Worker().Demand() {
				mid := (s.lo + s.hi) / 2
				forks = append(forks, f.Fork(span{mid, s.hi}))
				s.hi = mid
				continue
			}
			for end := min(s.lo+1000, s.hi); s.lo < end; s.lo++ {
				n += s.lo
			}
		}
		for _, h := range slices.Backward(forks) {
			n += f.Join(h)
		}
		return n
	})
	fmt.Println(sum.Call(filch.Default(), span{0, 50_001}))
	// Output: 1250025000
}

func ExampleWorker_Poll() {
	sum := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 1
		}
		h := f.Fork(0)
		x := 0
		for i := range 1_000_000 { // long, and without forks of its own
			if x ^= i; i%1000 == 0 {
				f.Worker().Poll() // lets out the fork above
			}
		}
		return f.Join(h) + x&1
	})
	fmt.Println(sum.Call(filch.Default(), 1))
	// Output: 1
}

var square = filch.NewFunc(func(f *filch.Frame[int, int], n int) int { return n * n })

func ExampleNewFunc() {
	// Sort by merging; the halves are sorted at the same time.
	fn := filch.NewFunc(func(f *filch.Frame[[]int, []int], a []int) []int {
		if len(a) < 2 {
			return a
		}
		h := f.Fork(a[len(a)/2:])
		x := f.Call(a[:len(a)/2])
		y := f.Join(h)
		var merged []int
		for len(x) > 0 && len(y) > 0 {
			if x[0] <= y[0] {
				merged, x = append(merged, x[0]), x[1:]
			} else {
				merged, y = append(merged, y[0]), y[1:]
			}
		}
		return append(append(merged, x...), y...)
	})
	fmt.Println(fn.Call(filch.Default(), []int{3, 1, 4, 1, 5, 9, 2, 6}))
	// Output: [1 1 2 3 4 5 6 9]
}

func ExampleFunc() {
	fmt.Println(square.Call(filch.Default(), 12))
	// Output: 144
}

func ExampleFunc_Call() {
	p := filch.New()
	fmt.Println(square.Call(p, 3)) // from any goroutine, on a pool
	p.Do(func(w *filch.Worker) {
		fmt.Println(square.Call(w, 4)) // from inside, on the worker
	})
	// Output:
	// 9
	// 16
}

// sumTo sums the numbers from 1 to n, with all its forks in one frame.
var sumTo = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n <= 0 {
		return -n
	}
	var hs []filch.Fork
	for i := 1; i <= n; i++ {
		hs = append(hs, f.Fork(-i))
	}
	sum := 0
	for i := len(hs) - 1; i >= 0; i-- { // the newest first
		sum += f.Join(hs[i])
	}
	return sum
})

func ExampleFrame() {
	fmt.Println(sumTo.Call(filch.Default(), 100))
	// Output: 5050
}

func ExampleFork() {
	fmt.Println(sumTo.Call(filch.Default(), 10))
	// Output: 55
}

func ExampleFrame_Fork() {
	pow := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 1
		}
		h := f.Fork((n - 1) / 2)
		x := f.Call(n - 1 - (n-1)/2)
		return 2 * x * f.Join(h)
	})
	fmt.Println(pow.Call(filch.Default(), 10))
	// Output: 1024
}

func ExampleFrame_Join() {
	fn := filch.NewFunc(func(f *filch.Frame[string, int], s string) int {
		if len(s) < 2 {
			return strings.Count(s, "a")
		}
		older := f.Fork(s[:len(s)/2])
		newer := f.Fork(s[len(s)/2:])
		n := f.Join(newer) // the newest fork first
		return n + f.Join(older)
	})
	fmt.Println(fn.Call(filch.Default(), "banana"))
	// Output: 3
}

func ExampleFrame_Call() {
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return 1
		}
		h := f.Fork(n / 2)
		return f.Call(n-n/2) + f.Join(h)
	})
	fmt.Println(fn.Call(filch.Default(), 1000))
	// Output: 1000
}

func ExampleFrame_Worker() {
	outer := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		return 1 + square.Call(f.Worker(), n) // another function, on the same worker
	})
	fmt.Println(outer.Call(filch.Default(), 5))
	// Output: 26
}

var fibonacci = filch.NewChain(fibonacciLink)

func fibonacciLink(l *filch.Link[int, int], n int) int {
	if n < 2 {
		return n
	}
	l.Fork(n - 1)                     // others may take it
	b := fibonacciLink(l.Next(), n-2) // the link holds a fork, so pass the next
	if l.TakeBack() {                 // nobody has
		return fibonacciLink(l, n-1) + b
	}
	return l.Join() + b
}

func ExampleNewChain() {
	fmt.Println(fibonacci.Call(filch.Default(), 25))
	// Output: 75025
}

func ExampleChain() {
	fmt.Println(fibonacci.Call(filch.Default(), 20))
	// Output: 6765
}

func ExampleChain_Call() {
	filch.Default().Do(func(w *filch.Worker) {
		fmt.Println(fibonacci.Call(w, 10))
	})
	// Output: 55
}

// sumTree sums a binary tree whose nodes are numbered as in a heap.
var sumTree = filch.NewChain(sumTreeLink)

func sumTreeLink(l *filch.Link[int, int], node int) int {
	if node >= 8 {
		return node
	}
	l.Fork(2 * node)
	sum := node + sumTreeLink(l.Next(), 2*node+1)
	if l.TakeBack() {
		return sum + sumTreeLink(l, 2*node)
	}
	return sum + l.Join()
}

func ExampleLink() {
	fmt.Println(sumTree.Call(filch.Default(), 1))
	// Output: 120
}

func ExampleLink_Fork() {
	// A link holds one fork. For two at a time, take two links.
	var leaves func(l *filch.Link[int, int], depth int) int
	leaves = func(l *filch.Link[int, int], depth int) int {
		if depth == 0 {
			return 1
		}
		l.Fork(depth - 1)
		l2 := l.Next()
		l2.Fork(depth - 1)
		n := leaves(l2.Next(), depth-1)
		for _, l := range []*filch.Link[int, int]{l2, l} { // the newest first
			if l.TakeBack() {
				n += leaves(l, depth-1)
			} else {
				n += l.Join()
			}
		}
		return n
	}
	fmt.Println(filch.NewChain(leaves).Call(filch.Default(), 5))
	// Output: 243
}

func ExampleLink_Next() {
	// The depth of the recursion is the number of links in use.
	var depth func(l *filch.Link[int, int], n int) int
	depth = func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 0
		}
		l.Fork(n / 2)
		a := depth(l.Next(), n-1)
		b := l.Join() // without TakeBack, Join makes the call itself
		return 1 + max(a, b)
	}
	fmt.Println(filch.NewChain(depth).Call(filch.Default(), 9))
	// Output: 9
}

func ExampleLink_TakeBack() {
	var sum func(l *filch.Link[int, int], n int) int
	sum = func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 0
		}
		l.Fork(n - 1)
		if l.TakeBack() { // the call is the caller's to make
			return n + sum(l, n-1)
		}
		return n + l.Join() // another worker may have it
	}
	fmt.Println(filch.NewChain(sum).Call(filch.Default(), 10))
	// Output: 55
}

func ExampleLink_Join() {
	p := filch.New(filch.WithWorkers(2))
	met := make(chan bool)
	chain := filch.NewChain(func(l *filch.Link[bool, string], second bool) string {
		if second {
			<-met
			return "on another worker"
		}
		l.Fork(true)
		met <- true // cannot go on before the fork was stolen
		return l.Join()
	})
	fmt.Println(chain.Call(p, false))
	// Output: on another worker
}

func ExampleLink_Worker() {
	chain := filch.NewChain(func(l *filch.Link[int, int], n int) int {
		return square.Call(l.Worker(), n) + 1
	})
	fmt.Println(chain.Call(filch.Default(), 6))
	// Output: 37
}

func ExamplePanicError() {
	defer func() {
		err := recover().(*filch.PanicError)
		fmt.Println(err.Value, errors.Is(err, fs.ErrNotExist))
		fmt.Println(strings.Contains(string(err.Stack), "ExamplePanicError"))
	}()
	filch.Default().Do(func(w *filch.Worker) {
		w.Join(
			func(*filch.Worker) {},
			func(*filch.Worker) { panic(fs.ErrNotExist) })
	})
	// Output:
	// file does not exist true
	// true
}

func ExamplePanicError_Error() {
	err := &filch.PanicError{Value: "boom", Stack: []byte("goroutine 1 [running]: ...")}
	fmt.Println(err)
	// Output:
	// panic in a function called by filch: boom
	//
	// goroutine 1 [running]: ...
}

func ExamplePanicError_Unwrap() {
	err := &filch.PanicError{Value: fmt.Errorf("open: %w", fs.ErrNotExist)}
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}

func ExamplePool_Workers() {
	p := filch.New(filch.WithWorkers(3))
	fmt.Println(p.Workers())
	// Output: 3
}

func ExampleWorker_Pool() {
	p := filch.New(filch.WithWorkers(3))
	p.Do(func(w *filch.Worker) { fmt.Println(w.Pool() == p) })
	// Output: true
}

func ExamplePool_Idle() {
	p := filch.New(filch.WithWorkers(3))
	p.Do(func(*filch.Worker) { fmt.Println(p.Idle()) })
	// Output: 2
}

func ExamplePool_TryDo() {
	p := filch.New()
	sum := 0
	fmt.Println(p.TryDo(func(w *filch.Worker) { sum = fibonacci.Call(w, 20) }), sum)
	p.Close()
	fmt.Println(p.TryDo(func(w *filch.Worker) { sum = fibonacci.Call(w, 21) }), sum)
	// Output:
	// <nil> 6765
	// filch: the pool is closed 6765
}

func ExamplePool_DoContext() {
	ctx, cancel := context.WithCancel(context.Background()) // of a request, say
	answer := 0
	serve := func(w *filch.Worker) { answer = fibonacci.Call(w, 20) }
	fmt.Println(filch.Default().DoContext(ctx, serve), answer)
	cancel()
	fmt.Println(filch.Default().DoContext(ctx, serve))
	// Output:
	// <nil> 6765
	// context canceled
}

func ExamplePool_Closed() {
	p := filch.New()
	fmt.Println(p.Closed())
	p.Close()
	fmt.Println(p.Closed())
	// Output:
	// false
	// true
}

// The asyncs of a Do are done when it returns, however deep they are.
func ExampleWorker_Async() {
	var files atomic.Int64
	var walk func(w *filch.Worker, dir string)
	walk = func(w *filch.Worker, dir string) {
		entries, _ := fs.ReadDir(folder, dir)
		for _, e := range entries {
			if e.IsDir() {
				w.Async(func(w *filch.Worker) { walk(w, dir+"/"+e.Name()) })
			} else {
				files.Add(1)
			}
		}
	}
	filch.Default().Do(func(w *filch.Worker) { walk(w, "src") })
	fmt.Println(files.Load())
	// Output: 5
}

// What comes after a Finish may use what its asyncs have made.
func ExampleWorker_Finish() {
	squares := make([]int, 4)
	filch.Default().Do(func(w *filch.Worker) {
		w.Finish(func(w *filch.Worker) {
			for i := range squares {
				w.Async(func(*filch.Worker) { squares[i] = i * i })
			}
		})
		fmt.Println(squares)
	})
	// Output: [0 1 4 9]
}

// With one place, a fork waits for what another one sends.
func ExampleWorker_Blocking() {
	p := filch.New(filch.WithWorkers(1))
	ready := make(chan bool)
	p.Do(func(w *filch.Worker) {
		w.Join(
			func(w *filch.Worker) {
				w.Blocking(func() { <-ready })
				fmt.Println("ready")
			},
			func(*filch.Worker) { close(ready) })
	})
	// Output: ready
}

// Code behind an io.Writer has neither a Worker nor a context. So the writer is given what
// calls Blocking with the one there is.
func ExampleWorker_Blocking_writer() {
	p := filch.New(filch.WithWorkers(1))
	in, out := io.Pipe() // a Write blocks until it has been read
	lines := make(chan string)
	go func() {
		defer close(lines)
		var a, b string
		for {
			if _, err := fmt.Fscanln(in, &a, &b); err != nil {
				return
			}
			lines <- a + " " + b
		}
	}()

	p.Do(func(w *filch.Worker) { // fork-join work
		fmt.Fprintln(patientWriter{out, w.Blocking}, "a", "Worker")
	})
	fmt.Println(<-lines)

	ctx := context.Background()
	p.Go(ctx, func(ctx context.Context) { // a task
		block := func(f func()) { filch.Blocking(ctx, f) }
		fmt.Fprintln(patientWriter{out, block}, "a", "context")
	})
	fmt.Println(<-lines)
	p.Shutdown(ctx)
	out.Close()
	// Output:
	// a Worker
	// a context
}

// patientWriter is a writer whose Write may block. What is handed such a writer need not know
// of pools: block does, which is made for the place that the writer is used in.
type patientWriter struct {
	io.Writer
	block func(f func())
}

func (w patientWriter) Write(b []byte) (n int, err error) {
	w.block(func() { n, err = w.Writer.Write(b) })
	return n, err
}
