package tasks

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// A task that submits the next, for ever, does not drag its past along.
func TestChainsOfTasksForgetThePast(t *testing.T) {
	for name, opts := range map[string][]filch.TaskOption{"plain": nil, "named": {filch.Named("tick")}, "fair": {filch.Fair()}} {
		for _, labels := range []bool{false, true} {
			p := filch.New(filch.WithWorkers(1))
			if labels {
				p = filch.New(filch.WithWorkers(1), filch.WithLabels())
			}
			var first weak.Pointer[byte]
			n, done := 0, make(chan bool)
			var next func(ctx context.Context)
			next = func(ctx context.Context) {
				if n++; n == 1 {
					first = weak.Make((*byte)(reflect.ValueOf(ctx).UnsafePointer()))
				}
				if n < 100 {
					p.Go(ctx, next, opts...)
					return
				}
				for range 3 {
					runtime.GC()
				}
				if name == "named" && first.Value() != nil { // the others share theirs
					t.Errorf("%s: the context of the first task is still held", name)
				}
				close(done)
			}
			p.Go(context.Background(), next, opts...)
			<-done
			p.Close()
		}
	}
}

// What is done is not held, by a context that lasts, by an idle worker, or by a
// paused pool.
func TestTasksAreForgotten(t *testing.T) {
	type big struct{ _ [1 << 12]byte }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type key struct{}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var results []weak.Pointer[big]
	add := func(b *big) *big { results = append(results, weak.Make(b)); return b }
	for range 20 {
		f := filch.Submit(ctx, p, func(context.Context) (*big, error) { return new(big), nil })
		<-f.Done()
		b, _ := f.Wait(context.Background())
		add(b)
	}
	waited := make(chan bool)
	p.Go(context.WithValue(context.Background(), key{}, add(new(big))), func(context.Context) { close(waited) })
	<-waited
	for p.Stats().Active > 0 {
		runtime.Gosched()
	}
	paused := filch.New(filch.WithStallTimeout(time.Millisecond), filch.WithWorkers(1))
	paused.Pause()
	b := add(new(big))
	paused.Go(context.Background(), func(context.Context) { runtime.KeepAlive(b) })
	batch := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	batch.Pause()
	for range 20 { // taken over by the worker in batches
		b := add(new(big))
		batch.Go(context.Background(), func(context.Context) { runtime.KeepAlive(b) })
	}
	batch.Resume()
	for s := batch.Stats(); s.Tasks.Done < 20 || s.Active > 0; s = batch.Stats() {
		runtime.Gosched()
	}
	defer runtime.KeepAlive(batch)
	b, paused = nil, nil
	poll.Patiently(t, "what tasks have used is collected once they are done", func() (bool, any) {
		runtime.GC()
		kept := 0
		for _, r := range results {
			if r.Value() != nil {
				kept++
			}
		}
		return kept == 0, fmt.Sprintf("%d of %d are held", kept, len(results))
	})
}

// A million queued tasks take little memory, and give it all back.
func TestMemoryOfQueuedTasks(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	n := int64(rig.Fewer(1_000_000))
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p := filch.New(filch.WithWorkers(2))
	for _, c := range []struct {
		name   string
		most   int64
		submit func()
	}{
		{"Go", 40, func() { p.Go(context.Background(), func(context.Context) {}) }},
		{"Submit", 136, func() { filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil }) }},
	} {
		before := heap()
		p.Pause()
		for range n {
			c.submit()
		}
		if each := (heap() - before) / n; each > c.most {
			t.Errorf("%s: %d bytes for each queued task", c.name, each)
		}
		p.Resume()
		for p.Stats().Tasks.Queued > 0 || p.Stats().Active > 0 {
			runtime.Gosched()
		}
		if left := heap() - before; left > 1<<20 {
			t.Errorf("%s: %d bytes are left", c.name, left)
		}
	}
	runtime.KeepAlive(p)
}
