package filch

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A line is a slice from which any entry may be removed.
func TestLineIsASlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var l line[int]
		var want, all []*turn[int]
		for i := range 200 {
			switch e := (&turn[int]{of: i}); rng.IntN(5) {
			case 0, 1:
				l.add(e)
				want, all = append(want, e), append(all, e)
			case 2:
				l.addFirst(e)
				want, all = slices.Insert(want, 0, e), append(all, e)
			case 3:
				if len(all) > 0 {
					e = all[rng.IntN(len(all))]
				}
				i := slices.Index(want, e)
				if got := l.remove(e); got != (i >= 0) {
					t.Fatalf("remove: %v", got)
				}
				if i >= 0 {
					want = slices.Delete(want, i, i+1)
				}
			default:
				got := l.pop()
				if len(want) == 0 && got != nil || len(want) > 0 && got != want[0] {
					t.Fatalf("pop: %v", got)
				}
				want = want[min(1, len(want)):]
			}
			var got, back []*turn[int]
			for e := l.first; e != nil; e = e.next {
				got = append(got, e)
			}
			for e := l.last; e != nil; e = e.prev {
				back = append(back, e)
			}
			slices.Reverse(back)
			if !slices.Equal(got, want) || !slices.Equal(back, want) {
				t.Fatalf("%v, %v, want %v", got, back, want)
			}
		}
	}
}

// A turn that comes to what has room already is not lost for those behind it.
func TestLateTurnsArePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle, got := 0, make(chan error, 1)
		first := true
		r := &room{limit: 2}
		r.idle = func() int {
			if !first {
				return idle
			}
			first = false
			go func() { got <- r.wait(context.Background(), context.Background()) }()
			synctest.Wait() // it stands in line behind the caller
			r.leave()       // the caller's turn, which then finds room without
			idle = 1
			return idle
		}
		r.word.Store(2)
		if err := r.wait(context.Background(), context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the second has no room")
			r.leave()
		}
	})
}

// What gives up when its turn has come passes it on.
func TestTurnsOfThoseThatGiveUpArePassedOn(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := &room{limit: 1}
			r.take()
			ctx, cancel := context.WithCancel(context.Background())
			gaveUp := make(chan error, 1)
			go func() { gaveUp <- r.wait(ctx, context.Background()) }()
			synctest.Wait()
			got := false
			go func() { got = r.wait(context.Background(), context.Background()) == nil }()
			synctest.Wait()
			cancel()
			r.leave()
			synctest.Wait()
			if err := <-gaveUp; (err != nil) != got {
				t.Errorf("the first: %v; the second: %v", err, got)
			}
			r.leave() // for the second, if the first has room
			synctest.Wait()
		})
	}
}

// One that gets room lets the next have what is left.
func TestRoomForManyIsTakenByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := 0
		r := &room{limit: 1, idle: func() int { return idle }}
		r.take()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { r.wait(context.Background(), context.Background()) })
		}
		synctest.Wait()
		idle = 8
		r.leave()
		all.Wait()
		if n := r.word.Load() & maxRoom; n != 8 {
			t.Errorf("%d have room", n)
		}
	})
}

// The largest limit does not overflow.
func TestRoomWithoutEnd(t *testing.T) {
	r := &room{limit: math.MaxInt, idle: func() int { return math.MaxInt32 }}
	for range 2 {
		if !r.take() {
			t.Error("no room")
		}
	}
}

// Fifty thousand that wait may all give up, in any order, and so may tasks that wait
// for one latch.
func TestManyInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithQueueLimit(1, Block))
		p.Pause()
		p.Go(context.Background(), func(context.Context) {})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 50_000 {
			all.Go(func() { p.Go(ctx, func(context.Context) {}) })
		}
		all.Wait()
		if r := p.room; r.line.first != nil || r.word.Load()&maxRoom != 1 {
			t.Errorf("somebody stands in line, %d have room", r.word.Load()&maxRoom)
		}
		p.Close()
	})
}
