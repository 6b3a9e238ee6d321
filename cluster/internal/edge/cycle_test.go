package edge

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// reaches says by a plain search whether a path leads from one task to another.
func reaches(edges [][2]int, from, to, steps int) bool {
	for _, e := range edges {
		if e[0] == from && (e[1] == to || steps > 0 && reaches(edges, e[1], to, steps-1)) {
			return true
		}
	}
	return false
}

func TestCyclesOfRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cycles := 0
	for range 500 {
		var edges [][2]int
		waiting, there := map[int][]int{}, map[[2]int]bool{}
		for range r.IntN(12) {
			e := [2]int{r.IntN(6), r.IntN(6)}
			waiting[e[1]] = append(waiting[e[1]], e[0])
			if r.IntN(5) > 0 { // else it was removed, and its name is left
				edges = append(edges, e)
				there[e] = true
			}
		}
		for v := range 6 {
			want := reaches(edges, v, v, 5)
			if want {
				cycles++
			}
			if got, err := Cycle(v, waiting, func(task, dep int) (bool, error) { return there[[2]int{task, dep}], nil }); got != want || err != nil {
				t.Fatalf("task %d of %v: %v %v", v, edges, got, err)
			}
		}
	}
	if cycles < 100 {
		t.Error("few cycles:", cycles)
	}
}

func TestAnEdgeThatCannotBeAskedAboutIsAnError(t *testing.T) {
	why := errors.New("on purpose")
	if got, err := Cycle(1, map[int][]int{1: {1}}, func(int, int) (bool, error) { return false, why }); got || err != why {
		t.Error(got, err)
	}
}
