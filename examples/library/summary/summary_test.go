package summary

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/filch-go/filch"
)

// plain is In without workers.
func plain(x []float64) Summary {
	sorted := slices.Sorted(slices.Values(x))
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return Summary{len(x), sorted[0], sorted[len(x)/2], sorted[len(x)-1], mean, math.Sqrt(square / float64(len(x)))}
}

func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i*7919%n) / 8
	}
	return x
}

// same allows for sums that were added in another order.
func same(a, b Summary) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	return a.N == b.N && a.Least == b.Least && a.Median == b.Median && a.Most == b.Most && near(a.Mean, b.Mean) && near(a.Deviation, b.Deviation)
}

// All kinds of callers get the right answer at the same time, on a pool that keeps its limit.
func TestCallersOfAllKindsAtOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		x := numbers(20_000)
		want := plain(x)
		check := func(got Summary, err error) {
			if err != nil || !same(got, want) {
				t.Errorf("%+v, %v; not %+v", got, err, want)
			}
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { check(Of(x)) })
			wg.Go(func() { check(In(p, x)) })
			wg.Go(func() { p.Do(func(w *filch.Worker) { check(In(w, x)) }) })
			wg.Go(func() {
				got := filch.Submit(context.Background(), p, func(ctx context.Context) ([]Summary, error) {
					return Compare(ctx, [][]float64{x, {1}, x})
				})
				all, err := got.Wait(context.Background())
				if err != nil || len(all) != 3 || all[2].Mean != 1 {
					t.Error("got.Wait(context.Background()):", all, err)
					return
				}
				check(all[0], nil)
				check(all[1], nil)
			})
		}
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		if s := p.Stats(); s.Active+s.Blocked != 0 {
			t.Errorf("p.Stats(): %+v", s)
		}
	}
}

func TestNoValuesAndAContextThatHasEndedAreErrors(t *testing.T) {
	if _, err := Of(nil); err != ErrNone {
		t.Error("Of(nil):", err)
	}
	if _, err := Compare(t.Context(), [][]float64{{1}, nil}); !errors.Is(err, ErrNone) {
		t.Error("Compare(t.Context(), …):", err)
	}
	gone := errors.New("the caller has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := Compare(ctx, [][]float64{{1}}); !errors.Is(err, gone) {
		t.Error("Compare(ctx, …):", err)
	}
}
