package filch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The count of queues that may hold tasks is that of the flags, whatever is pushed,
// popped, moved or let go; so it is 0 only if no worker has a task.
func TestLadenQueuesAreCounted(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := New(WithWorkers(1), WithOrder(order))
		setPlaces(p, counted{Active: 1}) // so that nobody is woken
		var workers []*Worker
		for range 100 {
			w := asWorker(p.engine.Hire())
			workers = append(workers, w)
		}
		check := func(when string) {
			flags := int64(0)
			for _, w := range *p.engine.Workers.Load() {
				if asWorker(w).tasks.some.Load() {
					flags++
				} else if asWorker(w).tasks.len() > 0 {
					t.Errorf("seed %d, %v, %s: a queue seems to be empty", seed, order, when)
				}
			}
			if n := p.laden.Load(); n != flags {
				t.Fatalf("seed %d, %v, %s: %d queues are laden, %d by the count", seed, order, when, flags, n)
			}
		}
		for range 5000 {
			w, v := workers[rng.IntN(8)], workers[rng.IntN(8)]
			switch rng.IntN(5) {
			case 0, 1:
				w.tasks.push(0, task{context.Background(), plainTask(func(context.Context) {})})
			case 2:
				w.nextTask()
			case 3:
				if v != w && w.tasks.len() == 0 {
					w.takeFrom(&v.tasks, 2, true)
				}
			case 4:
				w.tasks.takeBack(func(runnable) bool { return true })
			}
			check("at work")
		}
		for _, w := range workers[:50] { // those on whose queue the flag is left up, too
			for ok := true; ok; {
				_, ok = w.tasks.takeBack(func(runnable) bool { return true })
			}
		}
		for _, w := range workers {
			p.engine.Fire(&w.engine)
		}
		check("after many were let go")
		if n := len(*p.engine.Workers.Load()); n > 60 {
			t.Errorf("%v: %d workers are kept", order, n)
		}
	}
}

// Tasks with goroutines of their own end in any order; Dump has those that are left, in
// the order in which they began.
func TestLongRunningTasksEndInAnyOrder(t *testing.T) {
	p := New()
	defer p.Close()
	const n = 20
	var ends [n]chan bool
	var tasks [n]*Future[int]
	for i := range n {
		ends[i] = make(chan bool)
		tasks[i] = Submit(context.Background(), p, func(context.Context) (int, error) {
			<-ends[i]
			return 0, nil
		}, LongRunning(), Named(fmt.Sprint("number ", i)))
	}
	left := map[int]bool{}
	for i := range n {
		left[i] = true
	}
	for _, i := range rand.Perm(n) {
		close(ends[i])
		delete(left, i)
		if _, err := tasks[i].Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		for p.running() > len(left) { // a task leaves the list after its Future is done
			runtime.Gosched()
		}
		var want, got strings.Builder
		for i := range n {
			if left[i] {
				fmt.Fprintf(&want, "task number %d\n", i)
			}
		}
		var dump strings.Builder
		if err := p.Dump(&dump); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(dump.String()) {
			if rest, ok := strings.CutPrefix(line, "long running"); ok {
				got.WriteString(strings.TrimLeft(rest, " "))
			}
		}
		if got.String() != want.String() {
			t.Fatalf("running:\n%snot:\n%s", got.String(), want.String())
		}
	}
}

// running returns how many tasks have goroutines of their own.
func (p *Pool) running() int {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	return p.long.Len()
}

// A worker that looks for work without end finds what is pushed to its own queue, with the
// context of a task that it has run, for nobody else looks there.
func TestBusyPollFindsItsOwnTasks(t *testing.T) {
	p := New(WithWorkers(1), WithBusyPoll(), WithStallTimeout(0))
	defer p.Close()
	contexts := make(chan context.Context)
	if err := p.Go(context.Background(), func(ctx context.Context) { contexts <- ctx }); err != nil {
		t.Fatal(err)
	}
	ctx := <-contexts
	for p.engine.Counts(p.engine.Places.Load()).Searching == 0 {
		runtime.Gosched()
	}
	ran := make(chan bool)
	if err := p.Go(ctx, func(context.Context) { close(ran) }); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ran:
	case <-time.After(10 * time.Second):
		t.Fatal("the task waits for ever")
	}
}
