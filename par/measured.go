package par

import (
	"math"

	"github.com/filch-go/filch"
	parallelism "github.com/filch-go/filch/internal/span"
)

// measure is run under filch.Measure, on one worker. No worker asks for work, so it lays the loop out as if one always
// did: a piece is a chunk of the caller's grain, or else one element, or as many as take about the longest time that is
// not divided.
func (l *loop) measure(spans *parallelism.Recorder, w *filch.Worker, lo, hi int) {
	body, back := l.body, func() {}
	if l.lend != nil && !l.ended.Load() {
		body, back = l.lend()
	}
	grain := l.blocks(l.grain)
	size := max(grain, 1)
	each := l.of.known() * l.elements()
	if grain == 0 && each > 0 {
		size = int(max(1, min(little/each, math.MaxInt32)))
	}
	begun := spans.Loop()
	for lo < hi && !l.ended.Load() {
		if l.limit != nil {
			if hi = min(hi, l.blocks(int(l.limit.Load()))); lo >= hi {
				break
			}
		}
		end := lo + min(size, hi-lo)
		l.piece(w, body, lo, end)
		if took := spans.EndPiece(begun); grain == 0 {
			each = max(1, took*ns/int64(end-lo))
			size = int(max(1, min(little/each, 2*int64(size), math.MaxInt32)))
			l.of.learn(each/l.elements(), took)
		}
		lo = end
	}
	spans.EndLoop(begun, l.most)
	back()
	l.finish()
}
