package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	linger    = 5 * time.Second  // how long messages are made after the last page has gone
	patience  = 10 * time.Second // how long a page may take to read a message
	mostPages = 16
)

// A Source is what a [Feed] shows.
type Source interface {
	// Hello returns what a page is told first.
	Hello() []byte
	// Start is called when a page is opened and no messages are made. What it returns makes them, one after the other, by one
	// goroutine.
	Start() (message func() []byte)
	// Stop is called some seconds after the last page has gone, when no more messages are made.
	Stop()
}

// A Feed sends the messages of a Source to all pages that show it. One goroutine makes each message once, and none while no page is
// open.
type Feed struct {
	source Source
	every  time.Duration

	mu      sync.Mutex
	readers map[*reader]bool // under mu
	running bool             // run does; under mu
	left    time.Time        // when the last page did; under mu
}

// A reader is an open page.
type reader struct {
	messages chan []byte // one at most waits; run sends
	missed   int         // messages, since one was sent; under the Feed's mu
}

// NewFeed returns a Feed that lets some time pass before each message.
func NewFeed(s Source, every time.Duration) *Feed {
	return &Feed{source: s, every: every, readers: map[*reader]bool{}}
}

// join adds a reader, or returns nil if there are too many.
func (f *Feed) join() *reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.readers) >= mostPages {
		return nil
	}
	r := &reader{messages: make(chan []byte, 1)}
	f.readers[r] = true
	if !f.running {
		f.running = true
		go f.run(f.source.Start())
	}
	return r
}

func (f *Feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	f.left = time.Now()
}

// run sends messages until no page has been open for some seconds.
func (f *Feed) run(message func() []byte) {
	ticks := time.NewTicker(f.every)
	defer ticks.Stop()
	for range ticks.C {
		if f.stops() {
			return
		}
		f.send(message())
		ticks.Reset(f.every) // so that a message that takes long is not followed at once
	}
}

// stops reports whether it is time to stop, and stops the source then.
func (f *Feed) stops() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.readers) > 0 || time.Since(f.left) < linger {
		return false
	}
	f.running = false
	f.source.Stop()
	return true
}

// send gives the message to all that have taken the one before. It does not block.
func (f *Feed) send(message []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		select {
		case r.messages <- message:
		default:
			r.missed++
		}
	}
}

// takeMissed returns how many messages r has missed.
func (f *Feed) takeMissed(r *reader) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, r.missed = r.missed, 0
	return n
}

// stream writes the messages for a page.
func (f *Feed) stream(to http.ResponseWriter, r *http.Request, reader *reader, shutdown <-chan struct{}) {
	out := http.NewResponseController(to)
	write := func(message []byte) bool {
		out.SetWriteDeadline(time.Now().Add(patience)) // where it is not supported, the request's context ends
		_, err := to.Write(message)
		return err == nil && out.Flush() == nil
	}
	if !write(append([]byte("retry: 1000\n"), f.source.Hello()...)) { // browsers wait longer by themselves
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-shutdown:
			return
		case message := <-reader.messages:
			if n := f.takeMissed(reader); n > 0 && !write(Event("missed", n)) {
				return
			}
			if !write(message) {
				return
			}
		}
	}
}

// Event returns a server-sent event. It panics if data cannot be JSON.
func Event(name string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // of plain types
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, b)
}
