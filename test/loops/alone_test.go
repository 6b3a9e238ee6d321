package loops

import (
	"slices"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// On one worker, loops and sorts publish no forks, whatever has asked for them before.
func TestOneWorkerPublishesNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	xs := make([]int, 100_000)
	for range 10 {
		p.Do(func(w *filch.Worker) {
			p.Resize(2)
			p.Resize(1)
			par.For(w, len(xs), func(i int) { xs[i] = i * 7919 % 100_003 })
			par.ForScope(w, 100, func(s filch.Scope, i int) { par.For(s, 100, func(j int) { xs[100*i+j]++ }) })
			par.Sort(w, xs)
			if !slices.IsSorted(xs) {
				t.Error("not sorted")
			}
		})
	}
	p.Close()
	if s := p.Stats(); s.Published != 0 {
		t.Errorf("%d forks were published, %d of them taken back", s.Published, s.TakenBack)
	}
}
