package live

import (
	"fmt"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/page"
	"github.com/filch-go/filch/trace"
)

const (
	between    = time.Second // minimum time between looks at the pool, and between verdicts
	lookEffort = 100         // and the minimum in multiples of the time that a look takes
)

// A watch makes the messages of a pool, for a [page.Feed].
type watch struct {
	h      *handler
	number int
	pool   *filch.Pool
	source event.Source
	rec    *trace.Recorder
}

func newWatch(h *handler, number int) *watch {
	p := h.pools[number]
	if p == nil {
		panic(fmt.Sprintf("live: New: pool %d is nil", number))
	}
	source := event.SourceOf(p)
	if source == nil {
		panic(fmt.Sprintf("live: New: pool %d is one that filch.New has not made", number))
	}
	return &watch{h: h, number: number, pool: p, source: source, rec: trace.New(p)}
}

// Start implements [page.Source]: it starts recording the pool.
func (w *watch) Start() (message func() []byte) {
	w.rec.Start()
	follower := event.Follow(w.rec)
	m := maker{pool: w.pool}
	var (
		looks, judges time.Time // when the next is due
		look          event.Look
		judge         judge
	)
	return func() []byte {
		message := m.part(follower.Next(w.h.events))
		now := time.Now()
		if !now.Before(looks) {
			look = w.source.Look()
			message = append(message, page.Event("look", look)...)
			looks = now.Add(max(between, lookEffort*time.Since(now)))
		}
		judge.note(now, w.pool.Stats())
		if !now.Before(judges) {
			message = append(message, page.Event("verdict", judge.judge(look))...)
			judges = now.Add(between)
		}
		return message
	}
}

// Stop implements [page.Source].
func (w *watch) Stop() { w.rec.Stop() }

// Hello implements [page.Source].
func (w *watch) Hello() []byte {
	var pools []string
	for _, p := range w.h.pools {
		pools = append(pools, p.String())
	}
	return page.Event("hello", map[string]any{"pools": pools, "pool": w.number, "rate": w.h.rate, "sorts": event.Sorts()})
}
