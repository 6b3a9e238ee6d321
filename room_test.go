package filch

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/race"
)

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
		n := 50_000
		if race.Enabled {
			n = 5_000 // of which each takes 40 kB then
		}
		for range n {
			all.Go(func() { p.Go(ctx, func(context.Context) {}) })
		}
		all.Wait()
		if r := p.room; r.line.Last() != nil || r.word.Load()&maxRoom != 1 {
			t.Errorf("somebody stands in line, %d have room", r.word.Load()&maxRoom)
		}
		p.Close()
	})
}
