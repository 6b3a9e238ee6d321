package filch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/poll"
)

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
			t.Fatal("tasks[i].Wait(context.Background()):", err)
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
			t.Fatal("p.Dump(&dump):", err)
		}
		for line := range strings.Lines(dump.String()) {
			if rest, ok := strings.CutPrefix(line, "long running"); ok {
				name, _, _ := strings.Cut(strings.TrimSpace(rest), ";") // where it is follows
				fmt.Fprintln(&got, name)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("running:\n%snot:\n%s", got.String(), want.String())
		}
	}
}

// running returns how many tasks have goroutines of their own.
func (p *Pool) running() int { return len(p.tasks.LongRunning()) }

// A worker that looks for work without end finds what is pushed to its own queue, with the
// context of a task that it has run, for nobody else looks there.
func TestBusyPollFindsItsOwnTasks(t *testing.T) {
	p := New(WithWorkers(1), WithBusyPoll(), WithStallTimeout(0))
	defer p.Close()
	contexts := make(chan context.Context)
	if err := p.Go(context.Background(), func(ctx context.Context) { contexts <- ctx }); err != nil {
		t.Fatal("p.Go(context.Background(), …):", err)
	}
	ctx := <-contexts
	for p.tasks.Engine.Counts(p.tasks.Engine.Places.Load()).Searching == 0 {
		runtime.Gosched()
	}
	ran := make(chan bool)
	if err := p.Go(ctx, func(context.Context) { close(ran) }); err != nil {
		t.Fatal("p.Go(ctx, …):", err)
	}
	poll.End(t, "a task that was submitted while its worker searches", func() { <-ran })
}
