package cluster

import (
	"sync"
	"testing"
)

// The pool, what gives a task back, and what finds that the pool hangs meet at an execution: one of them goes on with its task, and only the
// pool ends what hangs.
func TestAnExecutionIsTakenOutOnce(t *testing.T) {
	for range 2000 {
		var q queued
		q.enter()
		var begun, revived, dropped, hung bool
		var all sync.WaitGroup
		all.Go(func() { begun = q.leave(); revived = !begun && q.revive() })
		all.Go(func() { dropped = q.leave() })
		all.Go(func() { hung = q.hang() })
		all.Wait()
		n := 0
		for _, did := range []bool{begun, dropped, hung} {
			if did {
				n++
			}
		}
		if n != 1 || revived && !hung || q.waits() {
			t.Fatal("begun:", begun, "dropped:", dropped, "hung:", hung, "revived:", revived)
		}
	}
}

func TestAnExecutionIsNotQueuedTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var q queued
	q.enter()
	q.enter()
}
