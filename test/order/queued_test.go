package order

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

func stew(context.Context)        {}
func soup(context.Context) error  { return nil }
func salad(context.Context) error { return nil }

// Queued tells how many tasks of a name and priority there are, and for how long, from
// outside and inside, in all orders.
func TestQueuedTellsOfEachNameAndPriority(t *testing.T) {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		for _, ageing := range []time.Duration{0, 7 * time.Millisecond} {
			if ageing > 0 && order != filch.ByPriority {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				opts := []filch.Option{filch.WithWorkers(1), filch.WithOrder(order)}
				if ageing > 0 {
					opts = append(opts, filch.WithAgeing(ageing))
				}
				p := filch.New(opts...)
				time.Sleep(time.Hour)
				at := func(n int) filch.TaskOption {
					if order != filch.ByPriority {
						n = 0
					}
					return filch.AtPriority(n)
				}
				begun, release := make(chan context.Context), make(chan bool)
				p.Go(context.Background(), func(ctx context.Context) { begun <- ctx; <-release }, filch.Named("cook"))
				inside := <-begun
				p.Pause()
				p.Go(context.Background(), func(ctx context.Context) { begun <- ctx; <-release }, filch.Named("waiter"), filch.LongRunning())
				<-begun
				if got := fmt.Sprint(p.Running()); got != "[{cook 1} {waiter 1}]" {
					t.Errorf("%v: running: %s", order, got)
				}
				for range 10_000 { // several pieces
					p.Go(context.Background(), stew, at(3))
				}
				time.Sleep(time.Minute)
				for i := range 300 { // by priority, some go on to the global queue
					p.Go(inside, stew, at(3))
					filch.Submit(inside, p, rig.One, at(100_000+i), filch.Named("tea"))
				}
				p.Go(context.Background(), stew, at(-5), filch.Named("soup of the day"))
				time.Sleep(time.Second)
				g := p.Group(inside)
				g.Go(soup, at(1))
				g.Go(salad, at(1))
				filch.Submit(context.Background(), p, rig.One, at(-4))
				got, want := p.Queued(), wantQueued(order)
				if !slices.Equal(got, want) {
					t.Errorf("%v: %v\nand not %v", order, got[:min(8, len(got))], want[:min(8, len(want))])
				}
				if s := p.Stats().Tasks; s.Oldest != time.Minute+time.Second || s.Queued != 10_604 {
					t.Errorf("p.Stats().Tasks: %v: %+v", order, s)
				}
				close(release)
				p.Shutdown(context.Background())
				if got, running := p.Queued(), p.Running(); len(got)+len(running) > 0 {
					t.Errorf("%v: at rest: %v, %v", order, got, running)
				}
			})
		}
	}
}

// wantQueued is what is queued of the tasks of TestQueuedTellsOfEachNameAndPriority.
func wantQueued(order filch.Order) []filch.QueuedTasks {
	const root = "github.com/filch-go/filch/test/order."
	if order != filch.ByPriority {
		return []filch.QueuedTasks{
			of("", 0, 1, 0),
			of(root+"salad", 0, 1, 0),
			of(root+"soup", 0, 1, 0),
			of(root+"stew", 0, 10_300, time.Minute+time.Second),
			of("soup of the day", 0, 1, time.Second),
			of("tea", 0, 300, time.Second),
		}
	}
	want := []filch.QueuedTasks{
		of("soup of the day", -5, 1, time.Second),
		of("", -4, 1, 0),
		of(root+"salad", 1, 1, 0),
		of(root+"soup", 1, 1, 0),
		of(root+"stew", 3, 10_300, time.Minute+time.Second),
	}
	for i := range 300 {
		want = append(want, filch.QueuedTasks{Name: "tea", Priority: 100_000 + i, Count: 1, Oldest: time.Second})
	}
	return want
}

// While tasks come and go, Queued sees about as many as there are.
func TestQueuedWhileTasksComeAndGo(t *testing.T) {
	for _, order := range []filch.Order{filch.FIFO, filch.ByPriority} {
		p := filch.New(filch.WithWorkers(2), filch.WithOrder(order))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 30_000 {
					p.Go(context.Background(), rig.Nothing)
				}
			})
		}
		stop := make(chan bool)
		go func() { wg.Wait(); p.Shutdown(context.Background()); close(stop) }()
		for looking := true; looking; {
			n := 0
			for _, q := range p.Queued() {
				n += q.Count
			}
			if n > 60_500 { // some move on while it looks
				t.Fatalf("%v: %d tasks are queued", order, n)
			}
			select {
			case <-stop:
				looking = false
			default:
			}
		}
		p.Close()
	}
}

// of returns what is queued of a task.
func of(name string, priority, count int, oldest time.Duration) filch.QueuedTasks {
	return filch.QueuedTasks{Name: name, Priority: priority, Count: count, Oldest: oldest}
}
