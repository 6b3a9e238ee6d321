package par

import (
	"iter"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// Values of a sequence are taken in batches, which grow up to mostBatch as long as they take little time.
const (
	firstBatch = 32
	mostBatch  = 4096
	batchTime  = 2 * time.Millisecond
)

// MapSeq returns f of each value of seq, in order. The goroutine of the loop over the result takes a batch of values
// from seq, all workers map the batch, and then the loop receives the results. These three steps do not overlap; in a
// [Pipeline] they do. A batch has 32 values at first, and up to 4,096 if they take little time, or n with
// [WithGrain](n). seq may be that far ahead of the loop; use a grain of 1 if it must not be. After a break, no more
// values are taken. f is called for all values taken, unless seq panics; the panic then reaches the loop.
func MapSeq[T, R any](s filch.Scope, seq iter.Seq[T], f func(v T) R, opts ...Option) iter.Seq[R] {
	check("MapSeq", s)
	checkFunc("MapSeq", f == nil || seq == nil)
	c := configOf("MapSeq", opts, grain|workersAtOnce)
	return func(yield func(R) bool) {
		var results []R
		for batch := range batches(seq, c) {
			clear(results)
			results = append(results[:0], make([]R, len(batch))...)
			mapInto(s, results, batch, f, config{most: c.most})
			for _, r := range results {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// FromSeq calls f for each value of seq, in no particular order, and returns when all calls have returned; see
// [MapSeq].
func FromSeq[T any](s filch.Scope, seq iter.Seq[T], f func(v T), opts ...Option) {
	check("FromSeq", s)
	checkFunc("FromSeq", f == nil || seq == nil)
	c := configOf("FromSeq", opts, grain|workersAtOnce)
	for batch := range batches(seq, c) {
		runLoop(s, len(batch), f, config{single: true, most: c.most}, func(lo, hi int) {
			for _, v := range batch[lo:hi] {
				f(v)
			}
		})
	}
}

// batches returns the values of seq in batches. A batch is valid until the next.
func batches[T any](seq iter.Seq[T], c config) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		size := firstBatch
		if c.grain > 0 {
			size = c.grain
		}
		var batch []T
		for v := range seq {
			if batch = append(batch, v); len(batch) < size {
				continue
			}
			begin := clock.Now()
			if !yield(batch) {
				return
			}
			if c.grain == 0 && clock.Now()-begin < int64(batchTime) {
				size = min(2*size, mostBatch)
			}
			clear(batch)
			batch = batch[:0]
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}
