package life

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/rig"
)

// More places are filled at once, if there is work.
func TestMorePlacesAreFilledAtOnce(t *testing.T) {
	p, release := rig.Held(t)
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { release(); return 1, nil })
	p.Resize(2)
	if n, err := f.Wait(context.Background()); n != 1 || err != nil {
		t.Error("f.Wait(background):", n, err)
	}
	p.Close()
}

// A polling worker that is one too many goes.
func TestBusyPollFollowsResize(t *testing.T) {
	p := filch.New(filch.WithWorkers(8), filch.WithBusyPoll())
	defer p.Close()
	var all, done sync.WaitGroup
	all.Add(8)
	for range 8 {
		done.Add(1)
		p.Go(context.Background(), func(context.Context) { all.Done(); all.Wait(); done.Done() }) // on eight workers at once
	}
	done.Wait()
	p.Resize(1)
	poll.Patiently(t, "one worker is left after Resize(1)", func() (bool, any) { s := p.Stats(); return s.Active <= 1, s })
}

func TestWorkersFollowGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := filch.New()
	if n := p.Stats().Workers; n != 1 {
		t.Errorf("%d workers at GOMAXPROCS 1", n)
	}
	for _, procs := range []int{3, 2, 5, 1} {
		runtime.GOMAXPROCS(procs)
		for start := time.Now(); p.Stats().Workers != procs; {
			rig.FibFunc.Call(p, 25)
			if time.Since(start) > time.Minute {
				t.Fatalf("%d workers at GOMAXPROCS %d", p.Stats().Workers, procs)
			}
		}
	}
	if n := filch.Default().Stats().Workers; n < 1 {
		t.Errorf("%d workers by default", n)
	}
}
