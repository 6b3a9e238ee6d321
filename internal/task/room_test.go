package task

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/race"
)

// A turn that comes to what has room already is not lost for those behind it.
func TestLateTurnsArePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle, got := 0, make(chan error, 1)
		first := true
		r := &Room{limit: 2}
		r.idle = func() int {
			if !first {
				return idle
			}
			first = false
			go func() { got <- r.Wait(context.Background(), Seat{}, context.Background()) }()
			synctest.Wait() // it stands in line behind the caller
			r.Leave()       // the caller's turn, which then finds room without
			idle = 1
			return idle
		}
		r.count.word.Store(2)
		if err := r.Wait(context.Background(), Seat{}, context.Background()); err != nil {
			t.Fatal("r.Wait(context.Background(), …, context.Background()):", err)
		}
		synctest.Wait()
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the second has no room")
			r.Leave()
		}
	})
}

// What gives up when its turn has come passes it on.
func TestTurnsOfThoseThatGiveUpArePassedOn(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := &Room{limit: 1}
			r.Take()
			ctx, cancel := context.WithCancel(context.Background())
			gaveUp := make(chan error, 1)
			go func() { gaveUp <- r.Wait(ctx, Seat{}, context.Background()) }()
			synctest.Wait()
			got := false
			go func() { got = r.Wait(context.Background(), Seat{}, context.Background()) == nil }()
			synctest.Wait()
			cancel()
			r.Leave()
			synctest.Wait()
			if err := <-gaveUp; (err != nil) != got {
				t.Errorf("the first: %v; the second: %v", err, got)
			}
			r.Leave() // for the second, if the first has room
			synctest.Wait()
		})
	}
}

// One that gets room lets the next have what is left.
func TestRoomForManyIsTakenByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := 0
		r := &Room{limit: 1, idle: func() int { return idle }}
		r.Take()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { r.Wait(context.Background(), Seat{}, context.Background()) })
		}
		synctest.Wait()
		idle = 8
		r.Leave()
		all.Wait()
		if n := r.Taken(); n != 8 {
			t.Errorf("%d have room", n)
		}
	})
}

// The largest limit does not overflow.
func TestRoomWithoutEnd(t *testing.T) {
	r := &Room{limit: math.MaxInt, idle: func() int { return math.MaxInt32 }}
	for range 2 {
		if !r.Take() {
			t.Error("no room")
		}
	}
}

// A task that leaves more often than it had room is found out, under the race detector.
func TestOneLeaveTooMany(t *testing.T) {
	r := NewRoom(2, nil)
	for range 2 {
		if !r.Take() {
			t.Error("no room")
		}
	}
	r.Leave()
	if s := r.count.load().String(); s != "{taken: 1, left: 1}" {
		t.Error("r.count.load().String():", s)
	}
	r.Leave()
	defer func() {
		if v := recover(); (v != nil) != race.Enabled {
			t.Errorf("one more: %v", v)
		}
	}()
	r.Leave()
}
