package flow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/par"
)

// A small build: two files are compiled, at the same time if there are workers for it, and
// linked. Tests that fail are tried again, up to three times.
func Example() {
	g := flow.New("build")
	compile := func(name string) *flow.Of[string] {
		return flow.Node(g, "compile "+name, func(context.Context) (string, error) { return name + ".o", nil })
	}
	a, b := compile("a"), compile("b")
	link := flow.Node(g, "link", func(ctx context.Context) (string, error) {
		return "prog(" + a.In(ctx) + " " + b.In(ctx) + ")", nil
	}, a, b)

	tries := 0
	test := flow.Node(g, "test", func(context.Context) (bool, error) { tries++; return tries == 2, nil }, link)
	passed := flow.Choose(g, "passed?", func(ctx context.Context) (int, error) {
		switch {
		case test.In(ctx):
			return 0, nil
		case tries < 3:
			return 1, nil // again
		}
		return 2, nil
	}, test)
	publish := flow.Node(g, "publish", func(ctx context.Context) (string, error) { return link.In(ctx) + " is out", nil })
	report := flow.Node(g, "report", func(context.Context) (string, error) { return "", errors.New("tests failed three times") })
	passed.To(publish, test, report)

	if err := g.Run(context.Background(), filch.Default()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(publish.Get(), "after", tries, "tries")
	// Output: prog(a.o b.o) is out after 2 tries
}

func number(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return n, nil }
}

func ExampleNew() {
	g := flow.New("sum")
	a, b := flow.Node(g, "a", number(2)), flow.Node(g, "b", number(3))
	sum := flow.Node(g, "sum", func(ctx context.Context) (int, error) { return a.In(ctx) + b.In(ctx), nil }, a, b)
	err := g.Run(context.Background(), filch.Default())
	fmt.Println(sum.Get(), err)
	// Output: 5 <nil>
}

func ExampleGraph() {
	g := flow.New("twice")
	n := 0
	flow.Node(g, "count", func(context.Context) (int, error) { n++; return n, nil })
	for range 2 {
		fmt.Println(g.Run(context.Background(), filch.Default()), n)
	}
	// Output:
	// <nil> 1
	// <nil> 2
}

func ExampleGraph_Name() {
	fmt.Println(flow.New("build").Name())
	// Output: build
}

func ExampleOption() {
	urgent := []flow.Option{flow.ByCriticalPath()}
	fmt.Println(flow.New("build", urgent...).Validate())
	// Output: <nil>
}

func ExampleByCriticalPath() {
	pool := filch.New(filch.WithWorkers(1))
	g := flow.New("g", flow.ByCriticalPath())
	say := func(name string, deps ...flow.Dep) flow.Dep {
		return flow.Node(g, name, func(context.Context) (int, error) { fmt.Println(name); return 0, nil }, deps...)
	}
	say("a short way")
	say("to the end", say("a long way"))
	g.Run(context.Background(), pool)
	// Output:
	// a long way
	// a short way
	// to the end
}

// Inside a node, loops and tasks run on the node's worker.
func ExampleNode() {
	pool := filch.Default()
	g := flow.New("squares")
	x := []int{1, 2, 3, 4}
	squares := flow.Node(g, "squares", func(ctx context.Context) ([]int, error) {
		return par.Map(filch.ScopeOf(ctx), x, func(v int) int { return v * v }), nil
	})
	sum := flow.Node(g, "sum", func(ctx context.Context) (int, error) {
		task := filch.Submit(ctx, pool, func(context.Context) (int, error) { return 100, nil })
		more, err := task.Wait(ctx)
		return par.Sum(filch.ScopeOf(ctx), squares.In(ctx)) + more, err
	}, squares)
	err := g.Run(context.Background(), pool)
	fmt.Println(sum.Get(), err)
	// Output: 130 <nil>
}

// Nodes of different types come into one slice as deps.
func ExampleDep() {
	g := flow.New("g")
	deps := []flow.Dep{
		flow.Node(g, "a", number(1)),
		flow.Node(g, "b", func(context.Context) (string, error) { return "b", nil }),
	}
	flow.Node(g, "last", func(context.Context) (int, error) { fmt.Println("last"); return 0, nil }, deps...)
	g.Run(context.Background(), filch.Default())
	// Output: last
}

func ExampleOf() {
	g := flow.New("g")
	var words *flow.Of[[]string] = flow.Node(g, "words", func(context.Context) ([]string, error) {
		return strings.Fields("steal the fork"), nil
	})
	var count *flow.Of[int] = flow.Node(g, "count", func(ctx context.Context) (int, error) { return len(words.In(ctx)), nil }, words)
	g.Run(context.Background(), filch.Default())
	fmt.Println(count.Get())
	// Output: 3
}

func ExampleOf_After() {
	g := flow.New("g")
	work := flow.Node(g, "work", func(context.Context) (int, error) { fmt.Println("work"); return 0, nil })
	prepare := flow.Node(g, "prepare", func(context.Context) (int, error) { fmt.Println("prepare"); return 0, nil })
	work.After(prepare)
	g.Run(context.Background(), filch.Default())
	// Output:
	// prepare
	// work
}

func ExampleOf_In() {
	g := flow.New("g")
	six := flow.Node(g, "six", number(6))
	answer := flow.Node(g, "answer", func(ctx context.Context) (int, error) { return 7 * six.In(ctx), nil }, six)
	g.Run(context.Background(), filch.Default())
	fmt.Println(answer.Get())
	// Output: 42
}

// What comes after a choice looks at which of them ran.
func ExampleOf_Lookup() {
	g := flow.New("g")
	cached := flow.Choose(g, "cached?", number(0))
	cache, fetch := flow.Node(g, "cache", number(1)), flow.Node(g, "fetch", number(2))
	cached.To(cache, fetch)
	flow.Choose(g, "done", number(0), cache).To(flow.Node(g, "show", func(ctx context.Context) (int, error) {
		_, fetched := fetch.Lookup(ctx)
		v, ok := cache.Lookup(ctx)
		fmt.Println(v, ok, fetched)
		return 0, nil
	}))
	g.Run(context.Background(), filch.Default())
	// Output: 1 true false
}

func ExampleOf_Get() {
	g := flow.New("g")
	a := flow.Node(g, "a", number(5))
	if err := g.Run(context.Background(), filch.Default()); err == nil {
		fmt.Println(a.Get())
	}
	// Output: 5
}

// Compilers may run at the same time, and no more than one linker.
func ExampleOf_Take() {
	linkers := flow.NewLimit(1)
	g := flow.New("build")
	running := 0 // changed without a lock
	for i := range 5 {
		flow.Node(g, fmt.Sprint("link ", i), func(context.Context) (int, error) { running++; return 0, nil }).Take(linkers, 1)
	}
	err := g.Run(context.Background(), filch.Default())
	fmt.Println(running, err)
	// Output: 5 <nil>
}

func ExampleLimit() {
	memory := flow.NewLimit(1000) // megabytes, for all graphs that take of it
	g := flow.New("g")
	flow.Node(g, "small", number(1)).Take(memory, 10)
	flow.Node(g, "large", number(2)).Take(memory, 1000)
	fmt.Println(g.Run(context.Background(), filch.Default()))
	// Output: <nil>
}

func ExampleNewLimit() {
	connections := flow.NewLimit(2)
	g := flow.New("g")
	for i := range 10 {
		flow.Node(g, fmt.Sprint("fetch ", i), number(i)).Take(connections, 1)
	}
	fmt.Println(g.Run(context.Background(), filch.Default()))
	// Output: <nil>
}

// A loop: the choice leads back to the body until it is done.
func ExampleChoose() {
	g := flow.New("count")
	n := 0
	begin := flow.Node(g, "begin", number(0))
	body := flow.Node(g, "body", func(context.Context) (int, error) { n++; return n, nil }, begin)
	more := flow.Choose(g, "more?", func(ctx context.Context) (int, error) {
		if body.In(ctx) < 10 {
			return 0, nil
		}
		return 1, nil
	}, body)
	done := flow.Node(g, "done", func(ctx context.Context) (int, error) { return body.In(ctx), nil })
	more.To(body, done)
	g.Run(context.Background(), filch.Default())
	fmt.Println(done.Get())
	// Output: 10
}

func ExampleChoice() {
	g := flow.New("g")
	var even *flow.Choice = flow.Choose(g, "even?", func(context.Context) (int, error) { return 7 % 2, nil })
	say := func(s string) flow.Dep {
		return flow.Node(g, s, func(context.Context) (int, error) { fmt.Println(s); return 0, nil })
	}
	even.To(say("even"), say("odd"))
	g.Run(context.Background(), filch.Default())
	// Output: odd
}

func ExampleChoice_To() {
	g := flow.New("g")
	c := flow.Choose(g, "stop", func(context.Context) (int, error) { return flow.End, nil })
	c.To(flow.Node(g, "not chosen", func(context.Context) (int, error) { fmt.Println("never"); return 0, nil }))
	fmt.Println(g.Run(context.Background(), filch.Default()))
	// Output: <nil>
}

func ExampleSub() {
	square := flow.New("square")
	g := flow.New("g")
	x := flow.Node(g, "x", number(12))
	xx := flow.Node(square, "xx", func(ctx context.Context) (int, error) { return x.In(ctx) * x.In(ctx), nil })
	sub := flow.Sub(g, "sub", square, x)
	show := flow.Node(g, "show", func(ctx context.Context) (string, error) {
		return fmt.Sprint("the square is ", flow.Result(sub.In(ctx), xx)), nil
	}, sub)
	g.Run(context.Background(), filch.Default())
	fmt.Println(show.Get())
	// Output: the square is 144
}

func ExampleGraph_Run() {
	g := flow.New("build")
	compile := flow.Node(g, "compile", number(0))
	flow.Node(g, "link", func(context.Context) (int, error) { return 0, errors.New("exit status 1") }, compile)
	fmt.Println(g.Run(context.Background(), filch.Default()))
	// Output: flow: graph "build": node "link": exit status 1
}

// Handlers of requests run one graph, each with its own context and results.
func ExampleGraph_RunFor() {
	type user struct{}
	g := flow.New("page")
	name := flow.Node(g, "name", func(ctx context.Context) (string, error) { return ctx.Value(user{}).(string), nil })
	page := flow.Node(g, "page", func(ctx context.Context) (string, error) { return "Hello, " + name.In(ctx), nil }, name)
	handle := func(who string) {
		r, err := g.RunFor(context.WithValue(context.Background(), user{}, who), filch.Default())
		if err != nil {
			fmt.Println(err)
			return
		}
		defer r.Release()
		fmt.Println(flow.Result(r, page))
	}
	handle("Ada")
	handle("Grace")
	// Output:
	// Hello, Ada
	// Hello, Grace
}

func ExampleResults() {
	g := flow.New("g")
	a := flow.Node(g, "a", number(1))
	var r *flow.Results
	r, _ = g.RunFor(context.Background(), filch.Default())
	fmt.Println(flow.Result(r, a))
	// Output: 1
}

func ExampleResult() {
	g := flow.New("g")
	a := flow.Node(g, "a", number(8))
	if r, err := g.RunFor(context.Background(), filch.Default()); err == nil {
		fmt.Println(flow.Result(r, a))
	}
	// Output: 8
}

func ExampleResults_Ran() {
	g := flow.New("g")
	a, b := flow.Node(g, "a", number(1)), flow.Node(g, "b", number(2))
	flow.Choose(g, "c", number(1)).To(a, b)
	r, _ := g.RunFor(context.Background(), filch.Default())
	fmt.Println(r.Ran(a), r.Ran(b))
	// Output: false true
}

func ExampleResults_Release() {
	g := flow.New("g")
	a := flow.Node(g, "a", number(3))
	for range 2 { // the second run uses the memory of the first
		r, _ := g.RunFor(context.Background(), filch.Default())
		fmt.Println(flow.Result(r, a))
		r.Release()
	}
	// Output:
	// 3
	// 3
}

func ExampleGraph_Validate() {
	g := flow.New("build")
	a := flow.Node(g, "a", number(1))
	b := flow.Node(g, "b", number(2), a)
	a.After(b)
	fmt.Println(g.Validate())
	// Output: flow: graph "build": the nodes wait for one another: a -> b -> a
}

func ExampleGraph_WriteDOT() {
	g := flow.New("build")
	compile := flow.Node(g, "compile", number(0))
	flow.Node(g, "link", number(0), compile)
	g.WriteDOT(os.Stdout)
	// Output:
	// digraph "build" {
	// 	label="build: 2 nodes"; labelloc=t; fontname="sans-serif";
	// 	node [shape=box, style=rounded, fontname="sans-serif"];
	// 	n0 [label="compile"];
	// 	n1 [label="link"];
	// 	n0 -> n1;
	// }
}

func ExampleGraph_WriteSVG() {
	g := flow.New("build")
	compile := flow.Node(g, "compile", number(0))
	flow.Node(g, "link", number(0), compile)
	var b strings.Builder
	err := g.WriteSVG(&b)
	fmt.Println(strings.HasPrefix(b.String(), "<svg "), err)
	// Output: true <nil>
}

func ExampleError() {
	g := flow.New("build")
	flow.Node(g, "link", func(context.Context) (int, error) { panic("no space") })
	err := g.Run(context.Background(), filch.Default())
	var failure *flow.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Graph, failure.Node)
	}
	var p *filch.PanicError
	if errors.As(err, &p) {
		fmt.Println(p.Value)
	}
	// Output:
	// build link
	// no space
}

func ExampleError_Error() {
	err := &flow.Error{Graph: "build", Node: "tests", Err: &flow.Error{Graph: "tests", Node: "unit", Err: errors.New("exit status 1")}}
	fmt.Println(err)
	// Output: flow: graph "build": node "tests": graph "tests": node "unit": exit status 1
}

func ExampleError_Unwrap() {
	err := &flow.Error{Graph: "build", Err: context.Canceled}
	fmt.Println(errors.Is(err, context.Canceled))
	// Output: true
}
