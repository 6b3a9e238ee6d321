package formats

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
)

var background = context.Background()

// A meeting is two calls that wait until both are there, so that two workers have them.
type meeting struct{ come atomic.Int32 }

func (m *meeting) attend(w *filch.Worker) {
	for m.come.Add(1); m.come.Load() < 2; {
		w.Poll()
	}
}

// meet forks a call that another worker must take.
var meet = filch.NewFunc(runMeet)

func runMeet(f *filch.Frame[*meeting, int], m *meeting) int {
	if m.come.Load() == 0 {
		h := f.Fork(m)
		m.attend(f.Worker())
		return f.Join(h)
	}
	m.attend(f.Worker())
	return 1
}

// forked has forks of 4 ms and 1 ms, in virtual time.
var forked = filch.NewFunc(runForked)

func runForked(f *filch.Frame[int, int], level int) int {
	if level > 0 {
		h := f.Fork(level - 1)
		time.Sleep(time.Millisecond)
		return f.Join(h)
	}
	time.Sleep(4 * time.Millisecond)
	return 1
}

// programs are recorded in virtual time.
var programs = map[string]func(p *filch.Pool){
	"nothing": func(*filch.Pool) {},
	"forks":   func(p *filch.Pool) { forked.Call(p, 3) },
	"tasks": func(p *filch.Pool) {
		rnd := rand.New(rand.NewPCG(1, 2))
		g := p.Group(background)
		for range 30 {
			takes := time.Duration(1 + rnd.IntN(int(time.Millisecond)))
			g.Go(func(ctx context.Context) error {
				forked.Call(p, 2)
				filch.Blocking(ctx, func() { time.Sleep(takes) })
				return nil
			}, filch.Named("bad \xff and\n\"good\""))
		}
		for i := range 3 {
			p.Go(background, func(context.Context) { time.Sleep(time.Duration(5-i) * time.Millisecond) }, filch.LongRunning(), filch.Named("long"))
		}
		g.Wait()
	},
}

// record returns what is recorded of a program.
func record(t *testing.T, program func(p *filch.Pool)) (recorded *trace.Trace) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3), filch.WithName("pool"))
		defer p.Close()
		r := trace.New(p, trace.WithCapacity(1<<16))
		r.Start()
		program(p)
		recorded = r.Snapshot()
	})
	return recorded
}

func chromeText(t *testing.T, tr *trace.Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tr.WriteChrome(&b); err != nil {
		t.Fatal("tr.WriteChrome(&b):", err)
	}
	return b.Bytes()
}
