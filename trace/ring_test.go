package trace

import (
	"cmp"
	"flag"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

var stormSeed = flag.Uint64("seed", 0, "the seed of the storm; 0 takes the time")

// What is packed is unpacked as it was, up to the greatest numbers, and a name up to 256 bytes.
func TestWhatIsPackedIsUnpackedAsItWas(t *testing.T) {
	long := strings.Repeat("n", 257)
	workers := []int{-1, 0, 1, engine.MaxWorkers - 1, engine.MaxWorkers}
	for kind := event.Submitted; kind <= event.Ended; kind++ {
		for _, name := range []string{"", "x", long[1:], long} {
			for _, worker := range workers {
				for _, other := range workers {
					e := event.Event{At: -5, Kind: kind, Worker: worker, Other: other, ID: 1<<64 - 1, Name: name, Func: 77}
					p := pack(&e)
					if e.Name = name[:min(len(name), 256)]; p.unpack() != e {
						t.Fatalf("%v by %d and %d is unpacked as %+v", kind, worker, other, p.unpack())
					}
				}
			}
		}
	}
}

// A long name is cut between characters, and what is cut does not stay in memory. Bytes that are no characters are kept.
func TestALongNameIsCutBetweenCharacters(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("é", 200):              strings.Repeat("é", 128),
		"x" + strings.Repeat("é", 200):        "x" + strings.Repeat("é", 127),
		"xy" + strings.Repeat("日", 100):       "xy" + strings.Repeat("日", 84),
		"xyz" + strings.Repeat("🙂", 100):      "xyz" + strings.Repeat("🙂", 63),
		strings.Repeat("\x80", 300):           strings.Repeat("\x80", 252),
		strings.Repeat("x", 255) + "\xff\xff": strings.Repeat("x", 255) + "\xff",
	} {
		p := pack(&event.Event{Name: name})
		if got := p.unpack().Name; got != want {
			t.Errorf("%.10q… of %d bytes is %q", name, len(name), got)
		}
		if unsafe.StringData(p.unpack().Name) == unsafe.StringData(name) {
			t.Errorf("%.10q… of %d bytes stays in memory", name, len(name))
		}
	}
}

// nth is the event with a number: no part of it can be of another.
func nth(worker int, n uint64) event.Event {
	return event.Event{At: int64(n), Kind: event.Kind(n % 34), Worker: worker, Other: int(n % 7), ID: n*0x9e3779b97f4a7c15 + uint64(worker), Name: "name"[:n%5]}
}

// A reader gets the latest events, and how many of those that it asked for are gone, whatever the
// capacity is, and from wherever it reads.
func TestRingKeepsTheLatest(t *testing.T) {
	for _, capacity := range []uint64{1, 2, 8, portion, 2 * portion} {
		own, all := newRing(int(capacity)), &shared{ring: *newRing(int(capacity))}
		for written := range 3*capacity + 2 {
			for from := uint64(0); from <= written; from += 1 + capacity/16 {
				for _, read := range []func(to []event.Event, from uint64) ([]event.Event, uint64, uint64){own.read, all.read} {
					events, lost, next := read(nil, from)
					begin := max(from, written-min(written, capacity))
					if next != written || lost != begin-from || uint64(len(events)) != written-begin {
						t.Fatalf("capacity %d, %d written, from %d: %d events, %d lost, next %d", capacity, written, from, len(events), lost, next)
					}
					for i, e := range events {
						if e != nth(3, begin+uint64(i)) {
							t.Fatalf("capacity %d, %d written, from %d: event %d is %+v", capacity, written, from, i, e)
						}
					}
				}
			}
			e := nth(3, written)
			if !own.put(&e) {
				t.Fatal("nobody has the ring")
			}
			all.put(&e)
		}
	}
}

// However fast a ring is written while it is read, a reader gets no more than the ring holds, and comes to an end.
func TestReadersEnd(t *testing.T) {
	const capacity, writers = 1 << 10, 200
	all := &shared{ring: *newRing(capacity)}
	var over atomic.Bool
	var begun, writing sync.WaitGroup
	begun.Add(writers)
	for i := range writers {
		writing.Go(func() {
			begun.Done()
			for n := uint64(1); !over.Load(); n++ {
				e := nth(i, n)
				all.put(&e)
			}
		})
	}
	begun.Wait()
	for from := uint64(0); from < 1<<20; {
		events, lost, next := all.read(nil, from)
		if len(events) > capacity || next-from != lost+uint64(len(events)) {
			t.Errorf("from %d to %d: %d events, and %d are lost; there is room for %d", from, next, len(events), lost, capacity)
			break
		}
		from = next
	}
	over.Store(true)
	writing.Wait()
}

// While a ring is taken, its worker goes on: what it tells goes to the ring of all.
func TestTakenRingKeepsNobodyWaiting(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	n := r.newRecording()
	n.Event(nth(0, 1))
	n.ringOf(0).taken.Store(true)
	n.Event(nth(0, 2))
	n.ringOf(0).taken.Store(false)
	n.Event(nth(0, 3))
	if own, _, _ := n.ringOf(0).read(nil, 0); len(own) != 2 || own[1] != nth(0, 3) {
		t.Errorf("the ring has %v", own)
	}
	if all, _, _ := n.all.read(nil, 0); len(all) != 1 || all[0] != nth(0, 2) {
		t.Errorf("the ring of all has %v", all)
	}
	if s := n.snapshot(); len(s.events) != 3 || s.Lost != 0 {
		t.Errorf("%d events, %d lost", len(s.events), s.Lost)
	}
}

// However many workers there are, only the first have rings. The others share one.
func TestMemoryIsFixed(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	n := New(p, WithCapacity(1)).newRecording()
	for worker := -1; worker <= engine.MaxWorkers; worker += 1 + worker/100 {
		n.Event(nth(worker, 1))
	}
	n.Event(nth(engine.MaxWorkers, 5))
	rings := 0
	for i := range n.rings {
		if n.rings[i].Load() != nil {
			rings++
		}
	}
	if rings > mostRings || len(n.all.events) != 1 {
		t.Errorf("%d rings, and one of %d", rings, len(n.all.events))
	}
	if s := n.snapshot(); len(s.events) != rings+1 || s.events[len(s.events)-1].Worker != engine.MaxWorkers {
		t.Errorf("%d events of %d rings", len(s.events), rings)
	}
}

// An event allocates nothing, once its worker has a ring.
func TestEventsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p, OnPanic(func(*Trace) {}), OnStall(func(*Trace) {}))
	r.Start()
	defer r.Stop()
	for _, worker := range []int{-1, 0, 255, 256, engine.MaxWorkers} {
		e := nth(worker, 2)
		if n := testing.AllocsPerRun(1000, func() { r.source.(interface{ Tell(event.Event) }).Tell(e) }); n != 0 {
			t.Errorf("an event of worker %d allocates %v times", worker, n)
		}
	}
}

// follower reads a ring again and again, and checks what it gets.
type follower struct {
	t          *testing.T
	read       func(to []event.Event, from uint64) (all []event.Event, lost, next uint64)
	from       uint64
	got, lost  uint64
	last       map[int]int64 // by worker, the number of the event read last
	numbersOf  []*atomic.Int64
	eventsRead []event.Event
}

func (f *follower) step() {
	events, lost, next := f.read(f.eventsRead[:0], f.from)
	f.eventsRead = events
	if next-f.from != lost+uint64(len(events)) {
		f.t.Errorf("from %d to %d there are %d events, and %d are lost", f.from, next, len(events), lost)
	}
	f.got, f.lost, f.from = f.got+uint64(len(events)), f.lost+lost, next
	for _, e := range events {
		if e != nth(e.Worker, uint64(e.At)) || e.At <= f.last[e.Worker] || e.At > f.numbersOf[e.Worker].Load() {
			f.t.Errorf("after event %d of worker %d, of which %d are written, comes %+v", f.last[e.Worker], e.Worker, f.numbersOf[e.Worker].Load(), e)
			return
		}
		f.last[e.Worker] = e.At
	}
}

// While workers write, each reader gets events that were written, in the order of each worker, and each of
// them once, as read or as lost. None is lost otherwise.
func TestStormOfReaders(t *testing.T) {
	seed := *stormSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	rounds, events := 12, int64(20000)
	if thorough.Sampled() {
		rounds, events = 4, 5000
	}
	for round := range uint64(rounds) {
		storm(t, seed+round, events)
		if t.Failed() {
			t.Fatalf("-seed %d", seed+round)
		}
	}
}

func storm(t *testing.T, seed uint64, events int64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p, WithCapacity(1<<rnd.IntN(12)))
	n := r.newRecording()
	workers, readers := 1+rnd.IntN(4), 1+rnd.IntN(3)
	written := make([]*atomic.Int64, workers)
	var writing, reading sync.WaitGroup
	var over atomic.Bool
	for w := range written {
		written[w] = new(atomic.Int64)
		pause := rnd.IntN(50)
		writing.Go(func() {
			for i := range events {
				written[w].Store(i + 1)
				n.Event(nth(w, uint64(i+1)))
				if pause > 0 && i%int64(pause) == 0 {
					runtime.Gosched() // so that readers come in between
				}
			}
		})
	}
	sums := make([]uint64, readers)
	for i := range readers {
		var all []*follower
		follow := func(read func([]event.Event, uint64) ([]event.Event, uint64, uint64)) {
			all = append(all, &follower{t: t, read: read, last: map[int]int64{}, numbersOf: written})
		}
		follow(n.all.read)
		for w := range workers {
			follow(n.ringOf(w).read)
		}
		reading.Go(func() {
			for last := false; !last; {
				last = over.Load()
				for _, f := range all {
					f.step()
				}
			}
			for _, f := range all {
				sums[i] += f.got + f.lost
			}
		})
	}
	writing.Wait()
	over.Store(true)
	reading.Wait()
	for _, sum := range sums {
		if sum != uint64(workers)*uint64(events) {
			t.Errorf("%d of %d events are read or lost", sum, uint64(workers)*uint64(events))
		}
	}
	if s := n.snapshot(); uint64(len(s.events))+s.Lost != uint64(workers)*uint64(events) {
		t.Errorf("a snapshot has %d events, and %d are lost", len(s.events), s.Lost)
	}
}

// What a Snapshot costs when 64 workers have full rings, and the files.
func BenchmarkSnapshot(b *testing.B) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	r.Start()
	defer r.Stop()
	for i := range uint64(r.capacity) {
		for worker := range 64 {
			e := nth(worker, i)
			e.At += r.now.began
			r.now.Event(e)
		}
	}
	t := r.Snapshot()
	for name, f := range map[string]func(){
		"snapshot": func() { r.Snapshot() },
		"chrome":   func() { t.WriteChrome(io.Discard) },
		"text":     func() { t.WriteText(io.Discard) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(t.Len()), "ns/event")
		})
	}
}

// Events stand by their times, however far apart these are, and those of one time as they came.
func TestEventsAreInOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	events := make([]event.Event, 1000)
	for i := range events {
		events[i] = event.Event{At: rnd.Int64N(20) << rnd.IntN(50), ID: uint64(i)}
	}
	want := slices.Clone(events)
	slices.SortStableFunc(want, func(a, b event.Event) int { return cmp.Compare(a.At, b.At) })
	if got := inOrder(events); !slices.Equal(got, want) {
		t.Errorf("there is\n%v", got)
	}
}
