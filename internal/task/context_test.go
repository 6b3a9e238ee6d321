package task

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A task knows what ends it without a look at all that it comes from, and learns of each
// cancellation between.
func TestATaskKnowsWhatEndsIt(t *testing.T) {
	p := newPool(1, LIFO)
	chain := make([]Context, 100)
	above := context.Background()
	for i := range chain {
		chain[i].Init(above, p)
		above = &chain[i]
	}
	knows := func(c *Context) bool { return c.asOf&^endless == p.cancellations.Load() }
	for i := range chain {
		if c := &chain[i]; !knows(c) || c.ending != &chain[0] || c.source() != context.Background() {
			t.Fatalf("task %d has to look for what ends it", i)
		}
	}
	chain[50].makeCancellation().cancel(context.Canceled) // and those above get one to follow
	for i := range chain {
		if c := &chain[i]; (c.Err() != nil) != (i >= 50) {
			t.Errorf("task 50 was cancelled: task %d: %v", i, c.Err())
		}
	}
	var below, beside Context
	below.Init(&chain[99], p)
	beside.Init(&chain[49], p)
	if !knows(&below) || below.ending != &chain[50] || !knows(&beside) || beside.ending != &chain[49] {
		t.Error("what comes after a cancellation has to look again")
	}
	if chain[70].Done(); below.nearest() != &chain[70] || chain[99].nearest() != &chain[70] {
		t.Error("a cancellation was not seen below")
	}
}

// A context that only the pool can end asks nothing else, until a task of the pool gets a cancellation of its own.
func TestAnEndlessContextEndsWithAll(t *testing.T) {
	p := newPool(1, LIFO)
	parent, cancel := context.WithCancel(context.Background())
	var free, bound, belowFree, belowBound Context
	free.Init(context.Background(), p)
	bound.Init(parent, p)
	belowFree.Init(&free, p)
	belowBound.Init(&bound, p)
	for c, want := range map[*Context]bool{&free: true, &belowFree: true, &bound: false, &belowBound: false} {
		if is := c.asOf&endless != 0; is != want || c.Err() != nil {
			t.Errorf("endless: %t, not %t; Err: %v", is, want, c.Err())
		}
	}
	var future, around, beyond Context
	other := newPool(1, LIFO)
	future.Init(context.Background(), p)
	around.Init(context.WithValue(&future, taskKey{}, nil), p)
	beyond.Init(&future, other)
	if around.asOf&endless != 0 || beyond.asOf&endless != 0 || p.cancellations.Load() != 0 {
		t.Error("what is asked of another task's context makes it a cancellation, or is not known")
	}
	cancel()
	if bound.Err() == nil || belowBound.Err() == nil || free.Err() != nil {
		t.Errorf("the submitter's context has ended: %v, %v; another has not: %v", bound.Err(), belowBound.Err(), free.Err())
	}
	free.makeCancellation().cancel(context.Canceled)
	var after Context
	after.Init(&free, p)
	if free.Err() == nil || belowFree.Err() == nil || after.Err() == nil {
		t.Errorf("a task was cancelled: %v; below it: %v, %v", free.Err(), belowFree.Err(), after.Err())
	}
}

// All that ask for the cancellation of a task find it counted.
func TestACancellationIsCountedBeforeItIsUsed(t *testing.T) {
	p := newPool(1, LIFO)
	var c Context
	c.Init(context.Background(), p)
	e := c.makeCancellation()
	before := p.cancellations.Load()
	e.counted.Store(false) // as if another had made it just now
	if c.makeCancellation(); before == 0 || p.cancellations.Load() == before {
		t.Errorf("%d cancellations are counted, and %d when the next asks for an uncounted one", before, p.cancellations.Load())
	}
}

// stopContext is a context that counts what follows it.
type stopContext struct {
	context.Context
	follow atomic.Int32
}

func (c *stopContext) AfterFunc(f func()) (stop func() bool) {
	c.follow.Add(1)
	over := context.AfterFunc(c.Context, f)
	return func() bool { c.follow.Add(-1); return over() }
}

// Value hides what package context would follow in its stead.
func (*stopContext) Value(any) any { return nil }

// A wait for a task that runs follows no context, and gives none a cancellation.
func TestAWaitForARunningTaskFollowsNoContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, LIFO)
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		ctx, goOn := &stopContext{Context: parent}, make(chan bool)
		f := submitted(ctx, p, func(context.Context) error { <-goOn; return nil }, Options{})
		synctest.Wait()
		go Wait(context.Background(), f)
		Done(f)
		if synctest.Wait(); ctx.follow.Load() != 0 || p.cancellations.Load() != 0 {
			t.Errorf("%d functions follow the context, and %d cancellations were made", ctx.follow.Load(), p.cancellations.Load())
		}
		close(goOn)
		<-p.Close()
	})
}

// When a task is done, nothing of it follows the context of its submitter.
func TestTasksThatAreDoneFollowNoContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, LIFO)
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		for name, wait := range map[string]func(f *errTask, run func()){
			"Done": func(f *errTask, run func()) { ch := Done(f); Done(f); run(); <-ch },
			"Wait": func(f *errTask, run func()) { go run(); Wait(context.Background(), f) },
			"both": func(f *errTask, run func()) { ch := Done(f); go run(); Wait(context.Background(), f); <-ch },
		} {
			ctx := &stopContext{Context: parent}
			p.Pause()
			f := submitted(ctx, p, func(context.Context) error { return nil }, Options{})
			most := int32(0)
			wait(f, func() { synctest.Wait(); most = ctx.follow.Load(); p.Resume() })
			synctest.Wait()
			if most == 0 || ctx.follow.Load() != 0 {
				t.Errorf("%s: %d functions followed the context, and %d do when it is done", name, most, ctx.follow.Load())
			}
		}
		closeNow(p)
	})
}
