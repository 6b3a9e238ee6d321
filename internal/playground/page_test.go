package playground_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/playground"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/thorough"
)

// The page does in a browser what it should, and the simulator in it comes to what this one comes to; browser/page.mjs
// has the steps. Screenshots are left in browser/shots. If only the results differ, "make playground" was not run after
// a change of the simulator.
func TestPageInABrowser(t *testing.T) {
	thorough.Only(t, "drives a page in Chromium")
	mux := http.NewServeMux()
	mux.Handle("/any/folder/", http.StripPrefix("/any/folder/", http.FileServer(http.Dir("../../docs/playground"))))
	mux.Handle("/bare/", http.StripPrefix("/bare/", http.FileServer(without{http.Dir("../../docs/playground"), "/sim.wasm.gz"})))
	mux.HandleFunc("/expected.json", expected)
	s := httptest.NewServer(mux)
	defer s.Close()
	if steps := browser.Drive(t, "browser", func(string) {}, s.URL); steps < 12 {
		t.Errorf("there were %d steps", steps)
	}
}

// without is a file system that lacks a file.
type without struct {
	http.FileSystem
	name string
}

func (w without) Open(name string) (http.File, error) {
	if name == w.name {
		return nil, fs.ErrNotExist
	}
	return w.FileSystem.Open(name)
}

// one is a run in a form that both sides know: what is asked, and the result.
type one struct {
	Request map[string]string `json:"request"`
	Result  string            `json:"result"`
}

// expected writes the menu, and runs of all schedulers on some programs by twenty seeds.
func expected(w http.ResponseWriter, _ *http.Request) {
	var all struct {
		Menu playground.Menu `json:"menu"`
		Runs []one           `json:"runs"`
	}
	all.Menu = playground.All()
	for _, scheduler := range sim.Schedulers() {
		for _, text := range []string{"fib=11", "quicksort=300", "loop=50@20"} {
			for seed := range 20 {
				run, err := native(text, scheduler, seed)
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				all.Runs = append(all.Runs, run)
			}
		}
	}
	json.NewEncoder(w).Encode(all)
}

// native runs a simulation as the command does.
func native(text, scheduler string, seed int) (one, error) {
	program, name, err := dag.Parse(text)
	if err != nil {
		return one{}, err
	}
	workers, cost := 1+seed%9, 1+seed%3
	r, err := sim.Run(sim.Config{Program: program, Scheduler: scheduler, Workers: workers, Seed: uint64(seed), StealCost: int64(cost)})
	if err != nil {
		return one{}, fmt.Errorf("%s by %s, seed %d: %w", text, scheduler, seed, err)
	}
	r.DAG = name
	b, err := json.Marshal(r)
	request := map[string]string{
		"dag": text, "graph": "", "scheduler": scheduler, "workers": strconv.Itoa(workers), "seed": strconv.Itoa(seed), "cost": strconv.Itoa(cost),
	}
	return one{request, string(b)}, err
}
