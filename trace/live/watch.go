package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/trace"
)

const (
	linger     = 5 * time.Second  // how long a recording goes on after the last page has gone
	patience   = 10 * time.Second // how long a page may take to read a message
	mostPages  = 16
	between    = time.Second // looks at the pool, at least
	lookEffort = 100         // and at least so many times as long as one took
)

// A watch follows a pool for all pages that show it. One goroutine reads the events and makes each message once.
type watch struct {
	pool   *filch.Pool
	source event.Source
	rec    *trace.Recorder
	number int
	every  time.Duration
	events int

	mu      sync.Mutex
	readers map[*reader]bool // under mu
	running bool             // run does; under mu
	left    time.Time        // when the last page did; under mu
}

// A reader is an open page.
type reader struct {
	messages chan []byte // one at most waits; run sends
	missed   int         // messages, since one was sent; under the watch's mu
}

func newWatch(p *filch.Pool, number int, every time.Duration, events int) *watch {
	if p == nil {
		panic(fmt.Sprintf("live: New: pool %d is nil", number))
	}
	source := event.SourceOf(p)
	if source == nil {
		panic(fmt.Sprintf("live: New: pool %d is one that filch.New has not made", number))
	}
	return &watch{pool: p, source: source, rec: trace.New(p), number: number, every: every, events: events, readers: map[*reader]bool{}}
}

// join adds a reader, or returns nil if there are too many.
func (w *watch) join() *reader {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.readers) >= mostPages {
		return nil
	}
	r := &reader{messages: make(chan []byte, 1)}
	w.readers[r] = true
	if !w.running {
		w.running = true
		w.rec.Start()
		go w.run()
	}
	return r
}

func (w *watch) leave(r *reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.readers, r)
	w.left = time.Now()
}

// run sends messages until no page has been open for some seconds.
func (w *watch) run() {
	follower := event.Follow(w.rec)
	ticks := time.NewTicker(w.every)
	defer ticks.Stop()
	m := maker{pool: w.pool}
	next := time.Now()
	for range ticks.C {
		if w.stops() {
			return
		}
		message := m.part(follower.Next(w.events))
		if now := time.Now(); !now.Before(next) {
			message = m.look(message, w.source.Look())
			next = now.Add(max(between, lookEffort*time.Since(now)))
		}
		w.send(message)
	}
}

// stops reports whether it is time to stop, and stops the recording then.
func (w *watch) stops() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.readers) > 0 || time.Since(w.left) < linger {
		return false
	}
	w.running = false
	w.rec.Stop()
	return true
}

// send gives the message to all that have taken the one before. It does not block.
func (w *watch) send(message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.readers {
		select {
		case r.messages <- message:
		default:
			r.missed++
		}
	}
}

// takeMissed returns how many messages r has missed.
func (w *watch) takeMissed(r *reader) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, r.missed = r.missed, 0
	return n
}

// serveEvents answers with server-sent events until the page goes.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request) {
	if h.token != nil && !h.token.isFrom(r) {
		http.Error(w, "live: there is no token", http.StatusUnauthorized)
		return
	}
	number := 0
	if s := r.URL.Query().Get("pool"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n >= len(h.watches) {
			http.Error(w, "live: there is no such pool", http.StatusNotFound)
			return
		}
		number = n
	}
	if !flushes(w) {
		http.Error(w, "live: the ResponseWriter cannot flush: what wraps it needs an Unwrap method, see http.ResponseController", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	watch := h.watches[number]
	reader := watch.join()
	if reader == nil {
		w.Header().Set("Retry-After", "5")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		http.Error(w, fmt.Sprintf("live: %d pages are open", mostPages), http.StatusServiceUnavailable)
		return
	}
	defer watch.leave(reader)
	watch.stream(w, r, reader, h.hello(number), h.shutdown(r))
}

// flushes reports whether http.ResponseController can flush w.
func flushes(w http.ResponseWriter) bool {
	for {
		switch x := w.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = x.Unwrap()
		default:
			return false
		}
	}
}

// shutdown returns what is closed when the server of r shuts down, or nil if it is not known. A server waits for what it
// serves, and a page would not end.
func (h *handler) shutdown(r *http.Request) <-chan struct{} {
	s, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := weak.Make(s)
	done := h.servers[key]
	if done == nil {
		done = make(chan struct{})
		h.servers[key] = done
		s.RegisterOnShutdown(sync.OnceFunc(func() { close(done) })) // for each call of Shutdown
	}
	return done
}

// stream writes the messages for a page.
func (w *watch) stream(to http.ResponseWriter, r *http.Request, reader *reader, hello []byte, shutdown <-chan struct{}) {
	out := http.NewResponseController(to)
	write := func(message []byte) bool {
		out.SetWriteDeadline(time.Now().Add(patience)) // where it is not supported, the request's context ends
		_, err := to.Write(message)
		return err == nil && out.Flush() == nil
	}
	if !write(hello) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-shutdown:
			return
		case message := <-reader.messages:
			if n := w.takeMissed(reader); n > 0 && !write(eventOf("missed", n)) {
				return
			}
			if !write(message) {
				return
			}
		}
	}
}

// hello is what a page is told first.
func (h *handler) hello(number int) []byte {
	var pools []string
	for _, w := range h.watches {
		pools = append(pools, w.pool.String())
	}
	return eventOf("hello", map[string]any{"pools": pools, "pool": number, "rate": h.rate, "sorts": event.Sorts()})
}

// eventOf returns a server-sent event.
func eventOf(name string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // of plain types
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, b)
}
