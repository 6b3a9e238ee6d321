package trace

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// What a follower tells, part by part, is what a trace of the same events has: each span and each arrow once.
func TestFollowerTellsWhatATraceHas(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 17))
			p := filch.New(filch.WithWorkers(3))
			defer p.Close()
			r := New(p, WithCapacity(1<<14))
			r.Start()
			f := event.Follow(r)
			var spans []event.Span
			var arrows []event.Arrow
			take := func() {
				part := f.Next(1 << 20)
				if part.Lost > 0 || len(part.Gaps) > 0 {
					t.Errorf("%d events are lost, with gaps %v", part.Lost, part.Gaps)
				}
				spans, arrows = append(spans, part.Spans...), append(arrows, part.Arrows...)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				program(p, rand.New(rand.NewPCG(seed, 18)))
			}()
			for open := true; open; {
				time.Sleep(time.Duration(1+random.IntN(20)) * time.Millisecond)
				take()
				select {
				case <-done:
					open = false
				default:
				}
			}
			time.Sleep(time.Minute)
			take()
			if more := f.Next(1 << 20); more.Read > 0 || len(more.Spans) > 0 {
				t.Errorf("events are told twice: %+v", more)
			}

			line := r.Snapshot().timeline()
			var want []event.Span
			for i := range line.spans {
				if s := &line.spans[i]; !s.open {
					s.begin, s.end = s.begin+f.(*watcher).now.began, s.end+f.(*watcher).now.began
					want = append(want, s.plain())
				}
			}
			same(t, spans, want)
			if len(arrows) < len(line.arrows) {
				t.Errorf("%d of %d arrows", len(arrows), len(line.arrows))
			}
		})
	}
}

// same compares spans, but for the depth of forks that were taken back and the order.
func same(t *testing.T, got, want []event.Span) {
	t.Helper()
	byBegin := func(a, b event.Span) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.End, b.End), cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.Name, b.Name))
	}
	for _, all := range [][]event.Span{got, want} {
		for i := range all {
			all[i].Depth = 0
		}
		slices.SortFunc(all, byBegin)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d spans, not %d:\n%v\n%v", len(got), len(want), got, want)
	}
}

// program runs tasks and forks that sleep.
func program(p *filch.Pool, random *rand.Rand) {
	nap := func(n int) { time.Sleep(time.Duration(n) * time.Millisecond) }
	g := p.Group(context.Background())
	for range 10 {
		n := 1 + random.IntN(30)
		g.Go(func(ctx context.Context) error {
			nap(n)
			if n%5 == 0 {
				filch.Blocking(ctx, func() { nap(n) })
			}
			return nil
		}, filch.Named("nap"))
	}
	g.Wait()
	tree := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			nap(7)
			return 1
		}
		h := f.Fork(n - 1)
		nap(3)
		x := f.Call(n - 1)
		return x + f.Join(h)
	})
	tree.Call(p, 4)
}

// Of more events than it may take, a follower takes the latest, counts the others, and the steals among them.
func TestFollowerLeavesOut(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	f := event.Follow(r)
	n := r.now
	for i := range 1000 {
		e := event.Event{At: n.began + int64(i+1), Kind: event.Stolen, Worker: i % 2, Other: 2, ID: event.ForkID(2, uint64(i))}
		n.Event(e)
		e.Kind = event.Finished
		n.Event(e)
	}
	part := f.Next(60)
	if part.Read+int(part.Lost) != 2000 || part.Read > 80 || len(part.Gaps) != 2 {
		t.Errorf("%d events read, %d lost, gaps %v", part.Read, part.Lost, part.Gaps)
	}
	if part.Steals[[2]int{0, 2}] != 500 || part.Steals[[2]int{1, 2}] != 500 {
		t.Errorf("steals: %v", part.Steals)
	}
	if again := f.Next(60); again.Read > 0 || again.Lost > 0 || len(again.Steals) > 0 {
		t.Errorf("and again: %+v", again)
	}
}

// Tasks that run on no worker have tracks of their own while they run side by side; the last has those that are too many.
func TestFollowerPutsTasksOnNoWorkerSideBySide(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	f := event.Follow(r)
	at := r.now.began
	tell := func(k event.Kind, task uint64) {
		at++
		r.now.Event(event.Event{At: at, Kind: k, Worker: -1, Other: -1, ID: task, Name: "aside"})
	}
	tracks := func(spans []event.Span) (all []int) {
		for _, s := range spans {
			all = append(all, s.Worker)
		}
		slices.Sort(all)
		return all
	}
	for task := range uint64(3) {
		tell(event.Started, task+1)
	}
	if got := tracks(f.Next(1000).Open); !slices.Equal(got, []int{-3, -2, -1}) {
		t.Errorf("three have the tracks %v", got)
	}
	tell(event.Done, 2)
	tell(event.Started, 4)
	part := f.Next(1000)
	if ended, got := tracks(part.Spans), tracks(part.Open); !slices.Equal(ended, []int{-2}) || !slices.Equal(got, []int{-3, -2, -1}) {
		t.Errorf("one of %v ended, and there are %v", ended, got)
	}
	for task := range uint64(2 * mostAsides) {
		tell(event.Started, task+5)
	}
	if got := tracks(f.Next(1000).Open); got[0] != -mostAsides || got[len(got)-1] != -1 || len(slices.Compact(got)) != mostAsides {
		t.Errorf("many have the tracks %v", got)
	}
}

// However many other events there are without a worker, a follower has each task that runs on none, unless events were
// overwritten: then it does not show for ever what may have ended.
func TestFollowerKeepsTasksOnNoWorker(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p, WithCapacity(4096))
	f := event.Follow(r)
	at := r.now.began
	tell := func(k event.Kind, n uint64) {
		at++
		r.now.Event(event.Event{At: at, Kind: k, Worker: -1, Other: -1, ID: n})
	}
	tell(event.Started, 1)
	tell(event.Started, 2)
	for range 2000 {
		tell(event.Submitted, 9)
	}
	tell(event.Done, 2)
	part := f.Next(100)
	if len(part.Open) != 1 || len(part.Spans) != 1 || part.Read > 110 || part.Read+int(part.Lost) != 2003 {
		t.Errorf("%d are open, %d have ended; %d events were read and %d left out", len(part.Open), len(part.Spans), part.Read, part.Lost)
	}
	for range 5000 {
		tell(event.Submitted, 9)
	}
	if part := f.Next(100); len(part.Open) != 0 || part.Read+int(part.Lost) != 5000 {
		t.Errorf("%d are open; %d events were read and %d left out", len(part.Open), part.Read, part.Lost)
	}
	for task := range uint64(200) {
		tell(event.Started, 10+task)
	}
	if part := f.Next(100); part.Read != 100 || part.Lost != 100 || len(part.Open) != 100 {
		t.Errorf("%d are open; %d events were read and %d left out", len(part.Open), part.Read, part.Lost)
	}
}

// The length of the global queue, which each worker tells, is recorded once a millisecond, and when it becomes 0.
func TestGlobalQueueIsRecordedAtARate(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	r.now.began -= int64(time.Second) // a Snapshot has nothing that is yet to come
	for us := range int64(10_000) {
		r.now.Event(event.Event{At: r.now.began + us*1000, Kind: event.Queued, Worker: -1, Other: -1, ID: 5})
	}
	for range 10 {
		r.now.Event(event.Event{At: r.now.began + 10_000_000 - 1, Kind: event.Queued, Worker: -1, Other: -1, ID: 0})
	}
	if n := r.Snapshot().Len(); n != 11 {
		t.Errorf("%d of 10,010 are recorded", n)
	}
}

// What is left open for ever, since the ends are lost, is bounded.
func TestFollowerIsBounded(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	f := event.Follow(r).(*watcher)
	for i := range uint64(100_000) {
		at := int64(i + 1)
		r.now.Event(event.Event{At: at, Kind: event.Started, Worker: 0, Other: -1, ID: event.TaskID(0, i+1)})
		r.now.Event(event.Event{At: at, Kind: event.Started, Worker: -1, Other: -1, ID: i + 1})
		r.now.Event(event.Event{At: at, Kind: event.Published, Worker: 0, Other: -1, ID: event.ForkID(0, i)})
		r.now.Event(event.Event{At: at, Kind: event.TakenBack, Worker: 0, Other: -1, ID: event.ForkID(1, i)})
		if i%500 == 0 {
			f.Next(1 << 20)
		}
	}
	f.Next(1 << 20)
	if len(f.d.spans) > mostOpen || len(f.apart) > mostApart || len(f.d.published) > mostForks || len(f.taken) > mostForks {
		t.Errorf("it keeps %d spans, %d tasks, %d and %d forks", len(f.d.spans), len(f.apart), len(f.d.published), len(f.taken))
	}
}

// A Recorder that is started anew is followed anew.
func TestFollowerOfANewRecording(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	f := event.Follow(r)
	for range 3 {
		r.Start()
		p.Do(func(*filch.Worker) {})
		r.Stop()
		if part := f.Next(1000); part.Read == 0 || len(part.Spans) == 0 {
			t.Errorf("f.Next(1000): %+v", part)
		}
	}
}

// Tasks that a worker fetches from another are an arrow between the two, with their number; those from the global queue are none.
func TestFollowerShowsFetches(t *testing.T) {
	p := filch.New(filch.WithWorkers(3))
	defer p.Close()
	r := New(p)
	f := event.Follow(r)
	at := r.now.began + 1
	r.now.Event(event.Event{At: at, Kind: event.Fetched, Worker: 2, Other: 1, ID: 3})
	r.now.Event(event.Event{At: at, Kind: event.Fetched, Worker: 0, Other: -1, ID: 5})
	part := f.Next(1000)
	if want := []event.Arrow{{From: 1, To: 2, In: at, N: 3}}; !slices.Equal(part.Arrows, want) {
		t.Errorf("worker 2 fetched three tasks from worker 1, and worker 0 five from the global queue: the arrows are %+v, not %+v", part.Arrows, want)
	}
	if n := part.Steals[[2]int{2, 1}]; n != 3 || len(part.Steals) != 1 {
		t.Errorf("the steals are %v: worker 2 has fetched three tasks from worker 1, and no other steal happened", part.Steals)
	}
}

// Each counter is a track of its own in a viewer: also two of one worker, or of the pool.
func TestCountersHaveTracksOfTheirOwn(t *testing.T) {
	tracks := map[string]bool{}
	for worker := -1; worker < 4; worker++ {
		for _, name := range []string{queuedName, "extra slots"} {
			title := (&count{worker: worker, name: name}).title()
			if tracks[title] {
				t.Errorf("two counters are called %q", title)
			}
			tracks[title] = true
		}
	}
	r := New(filch.New(filch.WithWorkers(1)))
	r.now.began -= int64(time.Second)
	r.now.Event(event.Event{At: r.now.began + 1, Kind: event.Queued, Worker: -1, Other: -1, ID: 5})
	r.now.Event(event.Event{At: r.now.began + 2, Kind: event.Extra, Worker: -1, Other: -1, ID: 1})
	var file strings.Builder
	if err := r.WriteChrome(&file); err != nil {
		t.Fatal("r.WriteChrome:", err)
	}
	for _, name := range []string{queuedName, "extra slots"} {
		title := (&count{worker: -1, name: name}).title()
		if n := strings.Count(file.String(), title); n != 1 {
			t.Errorf("a trace with both counters names %q %d times, not once", title, n)
		}
	}
}

// However many goroutines come first to a ring, all get the same.
func TestFirstEventsOfAWorkerThatMeet(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	r := New(p)
	const tellers = 4
	for worker := range mostRings {
		var (
			ready atomic.Int32
			rings [tellers]*ring
			all   sync.WaitGroup
		)
		for i := range tellers {
			all.Go(func() {
				for ready.Add(1); ready.Load() < tellers; { // so that they come together
					runtime.Gosched()
				}
				rings[i] = r.now.ringOf(worker)
			})
		}
		all.Wait()
		for _, ring := range rings {
			if ring == nil || ring != r.now.rings[worker].Load() {
				t.Fatalf("of %d goroutines that came first to the ring of worker %d, one got another ring", tellers, worker)
			}
		}
	}
}
