// Package summary is how a library computes in parallel: it takes the scope from its caller, and
// has a default. It makes no pool, so the program that uses it keeps one, and one limit.
package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// Summary describes some numbers.
type Summary struct {
	N                   int
	Least, Median, Most float64
	Mean, Deviation     float64
}

// String has one decimal.
func (s Summary) String() string {
	return fmt.Sprintf("%d from %.1f to %.1f, median %.1f, mean %.1f, deviation %.1f", s.N, s.Least, s.Most, s.Median, s.Mean, s.Deviation)
}

// ErrNone is what comes of no numbers.
var ErrNone = errors.New("summary: there are no numbers")

// Of describes x on the default pool, and leaves x as it is. It may be called from any goroutine, but
// inside tasks and forks of a pool, [In] is better.
func Of(x []float64) (Summary, error) { return In(filch.Default(), x) }

// In is Of for a caller that says where: on a pool, by the worker of a fork, or by the scope of a task.
func In(s filch.Scope, x []float64) (Summary, error) {
	if len(x) == 0 {
		return Summary{}, ErrNone
	}
	var sum Summary
	s.Do(func(w *filch.Worker) { // all of it on one worker, and those that help it
		sorted := make([]float64, len(x))
		par.Copy(w, sorted, x)
		par.Sort(w, sorted)
		n := float64(len(x))
		mean := par.Sum(w, x) / n
		square := par.MapReduce(w, x, 0, func(v float64) float64 { return (v - mean) * (v - mean) }, func(a, b float64) float64 { return a + b })
		sum = Summary{len(x), sorted[0], sorted[len(x)/2], sorted[len(x)-1], mean, math.Sqrt(square / n)}
	})
	return sum, nil
}

// Compare describes several series at once, the one with the greatest mean first. When ctx ends, it
// begins no more of them, and returns the cause. If ctx comes from a task, it works where that runs, and
// else on the default pool.
func Compare(ctx context.Context, series [][]float64) ([]Summary, error) {
	all, errs := make([]Summary, len(series)), make([]error, len(series))
	par.ForScope(filch.ScopeOf(ctx), len(series), func(s filch.Scope, i int) {
		if errs[i] = context.Cause(ctx); errs[i] == nil {
			all[i], errs[i] = In(s, series[i])
		}
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("series %d: %w", i, err)
		}
	}
	slices.SortStableFunc(all, func(a, b Summary) int { return cmp.Compare(b.Mean, a.Mean) })
	return all, nil
}
