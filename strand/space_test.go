package strand

import (
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// While a loop spawns children on one worker, one continuation waits, however many they are; with each level of
// nesting there is one more. Children that wait in a queue would be as many as the loop spawns.
func TestALoopKeepsTheDequeShort(t *testing.T) {
	racetest.Skip(t, "no continuation is stolen")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for n, depth := range map[int]uint{10: 1, 100_000: 1, 300: 2, 40: 3} {
		most, ran := uint(0), 0
		var loop func(s *Strand, level uint)
		loop = func(s *Strand, level uint) {
			if l := s.c.l; l.newest-l.oldest > most {
				most = l.newest - l.oldest
			}
			ran++
			for range n {
				if level == depth {
					break
				}
				s.Spawn(func(s *Strand) { loop(s, level+1) })
			}
		}
		Run(p, func(s *Strand) { loop(s, 0) }, Eager())
		if most != depth || ran < n {
			t.Errorf("%d children in a loop, %d deep: %d continuations wait, of %d strands", n, depth, most, ran)
		}
	}
}
