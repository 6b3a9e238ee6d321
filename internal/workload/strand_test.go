package workload

import "testing"

// Children of a loop that are open are counted: one in the serial program, all that a loop of forks makes,
// and with strands one a worker, however fast the loop is.
func TestOpenChildrenAreCounted(t *testing.T) {
	const n = 1000
	j, err := spawns.Prepare(itoa(n), Env{})
	if err != nil {
		t.Fatal("spawns.Prepare(itoa(n), …):", err)
	}
	for _, workers := range []int{1, 2, 3} {
		for name, most := range map[string]int64{"serial": 1, "filch": n,
			"strand": int64(workers), "strand-closure": int64(workers), "strand-eager": int64(workers)} {
			e, err := FindExecutor(name)
			if err != nil {
				t.Fatal("FindExecutor(name):", err)
			}
			r, err := e.Start(j, workers)
			if err != nil {
				t.Fatal("e.Start(j, workers):", err)
			}
			for range 2 {
				r.Run()
				if open := j.Open(); open < 1 || open > most || name == "filch" && workers == 1 && open != n {
					t.Errorf("%s on %d workers: %d open, at most %d", name, workers, open, most)
				}
			}
			r.Close()
		}
	}
	each := func(n int, f func(i int)) {
		for i := range n {
			f(i)
		}
	}
	if answer, open := j.Loops(each), j.Open(); answer != j.Want || open != 0 {
		t.Errorf("a loop that is no spawner's: %s, %d open", answer, open)
	}
}
