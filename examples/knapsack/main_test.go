package main

import (
	"math/rand/v2"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	if err := run(40, 2); err != nil {
		t.Error("run(40, 2):", err)
	}
}

// best solves k by a table of what is best for each room.
func best(k knapsack) int64 {
	most := make([]int, k.room+1)
	for _, it := range k.items {
		for room := k.room; room >= it.weight; room-- {
			most[room] = max(most[room], most[room-it.weight]+it.value)
		}
	}
	return int64(most[k.room])
}

func TestBothFormsFindTheBest(t *testing.T) {
	seed := rand.Uint64()
	p := filch.New(filch.WithWorkers(2), filch.WithOrder(filch.ByPriority))
	defer p.Close()
	for i := range uint64(20) {
		k := newKnapsack(1+int(i), seed+i)
		want := best(k)
		if got, _ := serial(k, 10); got != want {
			t.Errorf("seed %d: serial: %d, want %d", seed+i, got, want)
		}
		if got, _, err := parallel(k, p, 10); got != want || err != nil {
			t.Errorf("seed %d: parallel: %d, %v, want %d", seed+i, got, err, want)
		}
	}
}
