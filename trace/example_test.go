package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
)

func Example() {
	p := filch.New()
	defer p.Close()
	r := trace.New(p)
	r.Start()
	filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 42, nil }, filch.Named("answer")).Wait(context.Background())
	r.Stop()

	var file bytes.Buffer
	if err := r.WriteChrome(&file); err != nil { // open it at ui.perfetto.dev
		fmt.Println(err)
	}
	fmt.Println(bytes.Contains(file.Bytes(), []byte(`"name":"answer","cat":"task"`)))
	// Output: true
}

// recorded returns what is recorded of a task that has a name.
func recorded(name string) *trace.Trace {
	p := filch.New(filch.WithWorkers(1), filch.WithName("pool"))
	r := trace.New(p)
	r.Start()
	p.Go(context.Background(), func(context.Context) {}, filch.Named(name))
	p.Shutdown(context.Background())
	return r.Snapshot()
}

func ExampleNew() {
	p := filch.New(filch.WithWorkers(1))
	r := trace.New(p, trace.WithCapacity(1000)) // a flight recorder: it has the latest 1,024 events of each worker
	r.Start()
	p.Go(context.Background(), func(context.Context) {})
	p.Close()
	fmt.Println(r.Snapshot().Lost)
	// Output: 0
}

func ExampleWithCapacity() {
	p := filch.New(filch.WithWorkers(1))
	r := trace.New(p, trace.WithCapacity(1))
	r.Start()
	g := p.Group(context.Background())
	for range 100 {
		g.Go(func(context.Context) error { return nil })
	}
	g.Wait()
	p.Close()
	fmt.Println(r.Snapshot().Len() < 10, r.Snapshot().Lost > 50)
	// Output: true true
}

func ExampleOption() {
	opts := []trace.Option{trace.WithCapacity(1 << 16), trace.OnPanic(func(*trace.Trace) {})}
	p := filch.New()
	defer p.Close()
	r := trace.New(p, opts...)
	fmt.Println(r.Snapshot().Len())
	// Output: 0
}

func ExampleOnPanic() {
	written := make(chan bool)
	p := filch.New(filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {}))
	defer p.Close()
	r := trace.New(p, trace.OnPanic(func(t *trace.Trace) {
		var file bytes.Buffer // or one that os.Create makes
		if err := t.Last(10 * time.Second).WriteText(&file); err != nil {
			fmt.Println(err)
		}
		fmt.Println(bytes.Contains(file.Bytes(), []byte(`crashes in task 0.1 "import"`)))
		close(written)
	}))
	r.Start()
	p.Go(context.Background(), func(context.Context) { panic("no such file") }, filch.Named("import"))
	<-written
	// Output: true
}

func ExampleOnStall() {
	written := make(chan bool)
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(10*time.Millisecond))
	defer p.Close()
	r := trace.New(p, trace.OnStall(func(t *trace.Trace) {
		fmt.Println(t.Len() > 0)
		close(written)
	}))
	r.Start()
	p.Go(context.Background(), func(context.Context) { <-written }) // blocks the only worker
	p.Go(context.Background(), func(context.Context) {})
	<-written
	// Output: true
}

func ExampleRecorder() {
	p := filch.New()
	defer p.Close()
	r := trace.New(p)
	r.Start()
	defer r.Stop()
	fmt.Println(r.Snapshot().Len())
	// Output: 0
}

func ExampleRecorder_Start() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := trace.New(p)
	for range 2 {
		r.Start() // forgets what was recorded before
		fmt.Println(r.Snapshot().Len())
		p.Do(func(*filch.Worker) {})
		r.Stop()
	}
	// Output:
	// 0
	// 0
}

func ExampleRecorder_Stop() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := trace.New(p)
	r.Start()
	p.Do(func(*filch.Worker) {})
	r.Stop()
	p.Do(func(*filch.Worker) {}) // is not recorded
	fmt.Println(r.Snapshot().Len(), "events: a goroutine enters, is called, and leaves")
	// Output: 3 events: a goroutine enters, is called, and leaves
}

func ExampleRecorder_Snapshot() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := trace.New(p)
	r.Start() // and goes on
	p.Do(func(*filch.Worker) {})
	fmt.Println(r.Snapshot().Len())
	p.Do(func(*filch.Worker) {})
	fmt.Println(r.Snapshot().Len())
	// Output:
	// 3
	// 6
}

func ExampleRecorder_WriteText() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := trace.New(p)
	if err := r.WriteText(os.Stdout); err != nil { // nothing was recorded
		fmt.Println(err)
	}
	// Output:
}

func ExampleRecorder_WriteChrome() {
	p := filch.New(filch.WithWorkers(1), filch.WithName("pool"))
	defer p.Close()
	r := trace.New(p)
	var file bytes.Buffer
	err := r.WriteChrome(&file)
	fmt.Println(bytes.HasPrefix(file.Bytes(), []byte(`{"displayTimeUnit":"ns"`)), err)
	// Output: true <nil>
}

func ExampleTrace() {
	t := recorded("index")
	fmt.Println(t.Pool, t.Lost)
	// Output: pool, 1 worker 0
}

func ExampleTrace_Len() {
	fmt.Println(recorded("index").Len() > 0)
	// Output: true
}

func ExampleTrace_Last() {
	t := recorded("index").Last(time.Minute)
	fmt.Println(time.Since(t.Begun) < time.Minute)
	// Output: true
}

func ExampleTrace_WriteText() {
	var b bytes.Buffer
	if err := recorded("index").WriteText(&b); err != nil {
		fmt.Println(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		if _, line, ok := bytes.Cut(line, []byte("us  ")); ok && bytes.Contains(line, []byte("starts")) { // without the time
			fmt.Printf("%s", line)
		}
	}
	// Output: worker 0   starts task 0.1 "index"
}

func ExampleTrace_WriteChrome() {
	var file bytes.Buffer
	fmt.Println(recorded("index").WriteChrome(&file))
	// Output: <nil>
}
