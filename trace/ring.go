package trace

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/filch-go/filch/internal/event"
)

// A ring has the latest events of one worker. Its goroutine writes, and hardly anybody else does: a
// goroutine that has the context of the worker's task, or a reader, who takes it for a part of a
// microsecond. So nobody waits for it: what finds it taken goes to the ring of all; see recording.Event.
//
// An event takes 15 ns with the look at the clock left out, as much as under a sync.Mutex that
// nobody else wants. That would have to be waited for where a reader lost its processor in between.
// Blocks of events that are replaced when they are full, and counted by one atomic store for each event, took
// 14 ns, and a protocol between the writer and its readers.
type ring struct {
	taken  atomic.Bool // whoever sets it has the rest until it clears it
	begun  uint64      // events so far
	events []packed    // the latest, at their number modulo the length, which is a power of two
	_      [64]byte
}

// packed is an event in little memory: what a ring writes leaves the caches.
type packed struct {
	at   int64
	id   uint64
	what uint64 // kind, 6 bits; worker and other, 21 bits each, and one more than they are; length of the name, the rest
	name *byte  // nil if there is none
	fn   uintptr
}

const workerBits = 21

func pack(e *event.Event) packed {
	name := e.Name
	if len(name) > longestName {
		name = shortened(name)
	}
	p := packed{at: e.At, id: e.ID, fn: e.Func, name: unsafe.StringData(name)}
	p.what = uint64(e.Kind) | uint64(e.Worker+1)<<6 | uint64(e.Other+1)<<(6+workerBits) | uint64(len(name))<<(6+2*workerBits)
	return p
}

// longestName is how long a name may be, so that the memory of a ring is fixed: a name is in it for as long as its event.
const longestName = 256

// shortened returns a copy of the beginning of name, which keeps the rest from staying. It has whole characters.
func shortened(name string) string {
	n := longestName
	for n > longestName-utf8.UTFMax && !utf8.RuneStart(name[n]) {
		n--
	}
	return strings.Clone(name[:n])
}

func (p *packed) unpack() event.Event {
	const mask = 1<<workerBits - 1
	e := event.Event{
		At: p.at, Kind: event.Kind(p.what & (1<<6 - 1)), ID: p.id, Func: p.fn,
		Worker: int(p.what>>6&mask) - 1, Other: int(p.what>>(6+workerBits)&mask) - 1,
	}
	if length := p.what >> (6 + 2*workerBits); length > 0 {
		e.Name = unsafe.String(p.name, length)
	}
	return e
}

func newRing(capacity int) *ring { return &ring{events: make([]packed, capacity)} }

// put adds e, and reports false if the ring is taken.
func (r *ring) put(e *event.Event) bool {
	if !r.taken.CompareAndSwap(false, true) {
		return false
	}
	r.add(e)
	r.taken.Store(false)
	return true
}

// add is put for what has the ring.
func (r *ring) add(e *event.Event) {
	r.events[r.begun&uint64(len(r.events)-1)] = pack(e)
	r.begun++
}

// portion is how many events a reader copies at a time.
const portion = 64

// read appends what is there from the event with the number from on, and returns how many events before
// are gone, of those from there, and the number of the next. It ends where the ring does when it begins:
// goroutines that write as fast as it reads would keep it reading.
func (r *ring) read(to []event.Event, from uint64) (all []event.Event, lost, next uint64) {
	for end := uint64(math.MaxUint64); from < end; {
		for !r.taken.CompareAndSwap(false, true) {
			runtime.Gosched()
		}
		end = min(end, r.begun)
		to, from, lost = r.copy(to, from, end, lost)
		r.taken.Store(false)
	}
	return to, lost, from
}

// copy appends a portion of the events before end.
func (r *ring) copy(to []event.Event, from, end, lost uint64) (all []event.Event, next, nowLost uint64) {
	if size := uint64(len(r.events)); r.begun-from > size {
		lost += r.begun - from - size
		from = r.begun - size
	}
	for n := 0; n < portion && from < end; n++ {
		to = append(to, r.events[from&uint64(len(r.events)-1)].unpack())
		from++
	}
	return to, from, lost
}

// A shared ring is one that any goroutine writes.
type shared struct {
	mu sync.Mutex
	ring
}

func (s *shared) put(e *event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(e)
}

func (s *shared) read(to []event.Event, from uint64) (all []event.Event, lost, next uint64) {
	for end := uint64(math.MaxUint64); from < end; {
		s.mu.Lock()
		end = min(end, s.begun)
		to, from, lost = s.copy(to, from, end, lost)
		s.mu.Unlock()
	}
	return to, lost, from
}
