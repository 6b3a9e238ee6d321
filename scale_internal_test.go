package filch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/policy"
)

// A turn of a worker that finds nothing takes no more looks at deques on a
// thousand workers than on a few; and none if nobody has ever forked.
func TestATurnInVainIsShort(t *testing.T) {
	const workers = 1000
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := New(WithWorkers(workers), WithOrder(order))
		all := make([]*engineWorker, workers)
		for i := range all {
			all[i] = p.engine.hireSlow()
		}
		look := func() (attempts, tasks int) {
			w := all[workers/2]
			w.count = counters{}
			if j, found := w.look(true); j != nil || found {
				t.Fatalf("%v: something was found", order)
			}
			return w.count.attempts, w.count.looks
		}
		if n, tasks := look(); n != 0 || tasks != 0 {
			t.Errorf("%v: %d looks at deques and %d at queues where nobody has worked", order, n, tasks)
		}
		for _, w := range all {
			w.start()
		}
		if n, tasks := look(); n == 0 || n > policy.Glance || tasks != 0 {
			t.Errorf("%v: %d looks at deques and %d at queues in a turn", order, n, tasks)
		}
	}
}

// Glances miss nobody for long, and never look at the worker itself.
func TestGlancesReachEverybody(t *testing.T) {
	p := New(WithWorkers(100))
	all := make([]*engineWorker, 100)
	for i := range all {
		all[i] = p.engine.hireSlow()
		all[i].start()
	}
	for _, w := range all {
		w.demand = none
	}
	thief := all[0]
	asked := func() (n int) {
		for _, w := range all {
			if w.demand == hunger {
				n++
			}
		}
		return n
	}
	for turns := 0; asked() < 99; turns++ {
		if thief.look(true); turns > 1000 {
			t.Fatalf("%d of 99 were asked", asked())
		}
	}
	if thief.demand != none {
		t.Error("a worker asks itself")
	}
}

// The count of queues that may hold tasks is that of the flags, whatever is pushed,
// popped, moved or let go; so it is 0 only if no worker has a task.
func TestLadenQueuesAreCounted(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := New(WithWorkers(1), WithOrder(order))
		var workers []*Worker
		for range 100 {
			w := p.engine.hireSlow().as()
			w.engine.searching = true // so that it wakes nobody
			workers = append(workers, w)
		}
		check := func(when string) {
			flags := int64(0)
			for _, w := range *p.engine.workers.Load() {
				if w.as().tasks.some.Load() {
					flags++
				} else if w.as().tasks.len() > 0 {
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
				w.tasks.takeBack(func(body) bool { return true })
			}
			check("at work")
		}
		for _, w := range workers[:50] { // those on whose queue the flag is left up, too
			for ok := true; ok; {
				_, ok = w.tasks.takeBack(func(body) bool { return true })
			}
		}
		for _, w := range workers {
			p.engine.fire(&w.engine)
		}
		check("after many were let go")
		if n := len(*p.engine.workers.Load()); n > 60 {
			t.Errorf("%v: %d workers are kept", order, n)
		}
	}
}

// Workers that were let go are forkers no more.
func TestForkersAreLetGo(t *testing.T) {
	p := New(WithWorkers(2))
	var crowd, in sync.WaitGroup
	in.Add(200)
	for range 200 {
		crowd.Go(func() {
			p.Do(func(*Worker) {
				in.Done()
				in.Wait()
			})
		})
	}
	crowd.Wait()
	all := map[*engineWorker]bool{}
	for _, w := range *p.engine.workers.Load() {
		all[w] = true
	}
	forkers := *p.engine.forkers.Load()
	if len(forkers) > 100 || len(forkers) != len(all) {
		t.Errorf("%d forkers of %d workers", len(forkers), len(all))
	}
	for _, w := range forkers {
		if !all[w] {
			t.Fatal("a forker is no worker")
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
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
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
	for p.engine.counts(p.engine.places.Load()).Searching == 0 {
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
