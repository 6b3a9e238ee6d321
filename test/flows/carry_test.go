package flows

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// What a node has of a limit is free when it has failed, and not only when its run is over.
func TestNodeThatFailsGivesBackAtOnce(t *testing.T) {
	for name, fails := range map[string]func() error{
		"an error": func() error { return errors.New("bad") },
		"a panic":  func() error { panic("bad") },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(4))
			defer p.Close()
			l, goOn := flow.NewLimit(1), make(chan struct{})
			g, other := flow.New("fails"), flow.New("other")
			flow.Node(g, "fails", func(context.Context) (int, error) { time.Sleep(time.Second); return 0, fails() }).Take(l, 1)
			flow.Node(g, "is not over", func(context.Context) (int, error) { <-goOn; return 0, nil })
			flow.Node(other, "takes it", func(context.Context) (int, error) { close(goOn); return 0, nil }).Take(l, 1)
			done := make(chan error)
			go func() { done <- g.Run(context.Background(), p) }()
			synctest.Wait()
			go func() { done <- other.Run(context.Background(), p) }()
			if a, b := <-done, <-done; (a == nil) == (b == nil) {
				t.Errorf("<-done: %s: %v, %v", name, a, b)
			}
		})
	}
}

// A carrier that was refused is submitted again when there are ready nodes again.
func TestRefusedCarriersAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(2, filch.Reject))
		defer p.Close()
		end := make(chan bool)
		other := filch.Submit(context.Background(), p, func(context.Context) (int, error) { <-end; return 0, nil })
		g := flow.New("g")
		a := flow.Node(g, "a", nothing)
		flow.Node(g, "alone", nothing, a) // one of these two is ready when the other runs: no second carrier is taken
		b := flow.Node(g, "b", func(ctx context.Context) (int, error) {
			close(end)
			return other.Wait(ctx)
		}, a)
		c, d := make(chan bool), make(chan bool)
		flow.Node(g, "c", func(context.Context) (int, error) { close(c); <-d; return 0, nil }, b)
		flow.Node(g, "d", func(context.Context) (int, error) { close(d); <-c; return 0, nil }, b)
		noError(t, g.Run(context.Background(), p))
	})
}

// Close drops a carrier that is queued, and the run ends that has no other.
func TestCloseDropsTheCarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.FIFO), filch.WithStallTimeout(0))
		g := flow.New("g")
		a := flow.Node(g, "a", func(ctx context.Context) (int, error) {
			p.Go(ctx, func(ctx context.Context) { <-ctx.Done() }) // before the next carrier
			time.Sleep(time.Second)                               // its turn is over
			return 0, nil
		})
		flow.Node(g, "b", func(context.Context) (int, error) { t.Error("it runs"); return 0, nil }, a)
		done := make(chan error)
		go func() { done <- g.Run(context.Background(), p) }()
		time.Sleep(time.Minute)
		p.Close()
		if err := <-done; !errors.Is(err, filch.ErrClosed) {
			t.Error("<-done:", err)
		}
	})
}
