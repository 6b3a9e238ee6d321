package strands

import (
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/strand"
)

// racing are programs, and whether they race in some schedule.
var racing = map[string]struct {
	races bool
	run   func(s *strand.Strand)
}{
	"a total of two children": {true, func(s *strand.Strand) {
		total := 0
		s.Spawn(func(*strand.Strand) { total++ })
		s.Spawn(func(*strand.Strand) { total++ })
	}},
	"a child and its parent": {true, func(s *strand.Strand) {
		total := 0
		s.Spawn(func(*strand.Strand) { total++ })
		total++
	}},
	"a result before the Sync": {true, func(s *strand.Strand) {
		var result int
		s.Spawn(func(*strand.Strand) { result = 1 })
		if result > 0 {
			return
		}
	}},
	"a grandchild that nobody awaits before": {true, func(s *strand.Strand) {
		x := 0
		s.Spawn(func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { x++ }) })
		s.Spawn(func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { x++ }) })
	}},
	"a list that children append to": {true, func(s *strand.Strand) {
		var list []int
		for i := range 3 {
			s.Spawn(func(*strand.Strand) { list = append(list, i) })
		}
	}},
	"a result after the Sync": {false, func(s *strand.Strand) {
		var result int
		s.Spawn(func(*strand.Strand) { result = 1 })
		s.Sync()
		result++
	}},
	"a value": {false, func(s *strand.Strand) {
		a := strand.SpawnCall(s, fibCall, 8)
		b := strand.SpawnValue(s, func(s *strand.Strand) int { return fibCall(s, 7) })
		s.Sync()
		_ = a.Get() + b.Get()
	}},
	"elements of their own": {false, func(s *strand.Strand) {
		x := make([]int, 10)
		for i := range x {
			s.Spawn(func(*strand.Strand) { x[i] = i })
		}
		s.Sync()
		x[0]++
	}},
	"a mutex": {false, func(s *strand.Strand) {
		var mu sync.Mutex
		total := 0
		for range 3 {
			s.Spawn(func(*strand.Strand) { mu.Lock(); defer mu.Unlock(); total++ })
		}
	}},
	"a reducer": {false, func(s *strand.Strand) {
		list := strand.NewAppend[int]()
		for i := range 5 {
			s.Spawn(func(s *strand.Strand) { v := list.View(s); *v = append(*v, i) })
			v := list.View(s)
			*v = append(*v, -i)
		}
	}},
	"before the Spawn, and in it": {false, func(s *strand.Strand) {
		x := 1
		s.Spawn(func(s *strand.Strand) { x++; s.Spawn(func(*strand.Strand) { x++ }) })
		s.Sync()
	}},
}

// With logical races, the race detector reports a race of strands in each run, and no other.
func TestRacesOfStrandsAreReportedInEachRun(t *testing.T) {
	programs := map[string]racetest.Program{}
	for name, c := range racing {
		programs[name] = racetest.Program{Races: c.races, Run: func() {
			p := filch.New(filch.WithWorkers(1))
			defer p.Close()
			strand.Run(p, c.run)
		}}
	}
	racetest.Report(t, programs)
}
