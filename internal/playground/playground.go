// Package playground is what the page in docs/playground asks for: runs of the simulator, recorded so that any step of
// one can be shown at once. Package wasm has it as a command for browsers.
package playground

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/cache"
	"github.com/filch-go/filch/internal/sim/dag"
)

// A Request says what to run, in the words of filch sim. All come from fields of a form.
type Request struct {
	DAG       string // NAME=SIZE
	Graph     string // the JSON form of a graph, which is run instead if it is not empty
	Scheduler string
	Workers   string
	Seed      string
	StealCost string
}

// What is recorded and drawn has to fit into a page.
const (
	MaxWorkers = 256
	MaxNodes   = 500_000
	MaxEvents  = 2_000_000
)

// maxTime is the last step that an int32 can name.
const maxTime = 1<<31 - 1

// Config returns the run that the request is for, and the name of its program.
func (r Request) Config() (c sim.Config, name string, err error) {
	c.Scheduler = r.Scheduler
	if c.Workers, err = strconv.Atoi(r.Workers); err != nil || c.Workers < 1 || c.Workers > MaxWorkers {
		return c, "", fmt.Errorf("workers: %q is not a whole number from 1 to %d", r.Workers, MaxWorkers)
	}
	if c.Seed, err = strconv.ParseUint(r.Seed, 10, 64); err != nil {
		return c, "", fmt.Errorf("seed: %q is not a whole number from 0 to 2^64-1", r.Seed)
	}
	if c.StealCost, err = strconv.ParseInt(r.StealCost, 10, 64); err != nil || c.StealCost < 1 || c.StealCost > 1000 {
		return c, "", fmt.Errorf("steal cost: %q is not a whole number from 1 to 1000", r.StealCost)
	}
	if r.Graph == "" {
		c.Program, name, err = dag.Parse(r.DAG)
	} else {
		var g *dag.Graph
		if g, err = dag.ReadGraph(strings.NewReader(r.Graph)); err == nil {
			c.Program, name = g, g.Name
		}
	}
	if err != nil {
		return c, "", err
	}
	return c, name, c.Check()
}

// Run runs what the request says, and records it.
func Run(r Request) (f *Film, err error) {
	c, name, err := r.Config()
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			large, ok := p.(tooLarge)
			if !ok {
				panic(p)
			}
			f, err = nil, errors.New(string(large))
		}
	}()
	facts, err := dag.Serial(&metered{Program: c.Program}, cache.New(0))
	if err != nil {
		return nil, err
	}
	c.Facts = &facts
	f = newFilm(c.Workers)
	if err := f.number(c); err != nil {
		return nil, err
	}
	c.Tell, c.Watch = f.tell, f.watch
	if f.Result, err = sim.Run(c); err != nil {
		return nil, err
	}
	f.Result.DAG = name
	return f, nil
}

// tooLarge is what a run that is too large for the page panics with, since neither a Program nor Tell can end one.
type tooLarge string

// metered is a Program of no more than MaxNodes nodes.
type metered struct {
	dag.Program
	nodes int
}

func (m *metered) Node(t *dag.Thread, n *dag.Node) {
	if m.nodes++; m.nodes > MaxNodes {
		panic(tooLarge(fmt.Sprintf("the program has more than %d nodes, too many to show; filch sim runs it", MaxNodes)))
	}
	m.Program.Node(t, n)
}

// Menu is what there is to choose from.
type Menu struct {
	DAGs       []Choice `json:"dags"`
	Schedulers []Choice `json:"schedulers"`
}

// A Choice is a program or a scheduler.
type Choice struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Size  string `json:"size,omitempty"` // of a program: what its size means
}

// All returns all that there is to choose from.
func All() (m Menu) {
	for _, d := range dag.Families() {
		m.DAGs = append(m.DAGs, Choice{d.Name, d.About, d.Size})
	}
	for _, name := range sim.Schedulers() {
		m.Schedulers = append(m.Schedulers, Choice{Name: name, About: sim.About(name)})
	}
	return m
}
