package filch

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/topology"
)

// sockets is a machine of two sockets with two cores each, of two threads each: processors 0 and 4 share a core.
func sockets(t *testing.T) *topology.Topology {
	files := fstest.MapFS{"devices/system/cpu/online": {Data: []byte("0-7\n")}}
	for id, text := range map[string][2]string{
		"0": {"0", "0,4"}, "4": {"0", "0,4"}, "1": {"0", "1,5"}, "5": {"0", "1,5"},
		"2": {"1", "2,6"}, "6": {"1", "2,6"}, "3": {"1", "3,7"}, "7": {"1", "3,7"},
	} {
		dir := "devices/system/cpu/cpu" + id + "/topology/"
		files[dir+"physical_package_id"] = &fstest.MapFile{Data: []byte(text[0] + "\n")}
		files[dir+"thread_siblings_list"] = &fstest.MapFile{Data: []byte(text[1] + "\n")}
	}
	m, err := topology.Read(files)
	if len(m.Processors) != 8 {
		t.Fatal("topology.Read(files):", m.Processors, err)
	}
	return m
}

// With Nearest, workers look first at what is near on the machine, as its files describe it.
func TestNearestGoesByTheMachine(t *testing.T) {
	at := 0
	p := New(WithWorkers(8), WithStealing(Nearest))
	p.tasks.Engine.Stealing.Machine = newMachine(sockets(t), func() int { return at })
	var all []*engine.Worker
	for at = range 8 {
		w := p.tasks.Engine.Hire()
		all = append(all, w)
		w.Locate()
	}
	for w, want := range [][]int{0: {4}, 4: {0}, 5: {1}, 7: {3}} {
		if len(want) == 0 {
			continue
		}
		for range 10 {
			list, pass, n := all[w].Others()
			if first := list[pass.At(0)].ID; first != want[0] {
				t.Errorf("worker %d looks at %d first", w, first)
			}
			for i := range n {
				if near := list[pass.At(i)].ID%4/2 == w%4/2; near != (i < 3) {
					t.Errorf("worker %d looks at %d as number %d", w, list[pass.At(i)].ID, i)
				}
			}
		}
	}
}

// A processor that the machine did not have when it was read is far.
func TestAProcessorThatCameLater(t *testing.T) {
	m := newMachine(sockets(t), nil)
	for _, c := range [][3]int{{0, 0, topology.Itself}, {0, 4, topology.SameCore}, {0, 9, math.MaxUint8}, {9, 0, math.MaxUint8}} {
		if d := m.Distance(c[0], c[1]); d != c[2] {
			t.Errorf("from %d to %d: %d, not %d", c[0], c[1], d, c[2])
		}
	}
}

// This machine's processors are near themselves, and what the code of each way to steal is made of is what it says.
func TestWaysToStealAreTheirPolicies(t *testing.T) {
	for from, want := range map[Stealing]policy.Victims{
		RandomStart: policy.RandomStart(3), RoundRobin: policy.RoundRobin(), Localized: policy.Localized(3), Nearest: policy.Nearest(3), Adaptive: policy.Adaptive(3),
	} {
		e := &New(WithStealing(from)).tasks.Engine
		if got := e.Stealing.Victims(3); got != want {
			t.Errorf("%v: %+v, not %+v", from, got, want)
		}
		if known := e.Stealing.Machine != nil; known != (from == Nearest) {
			t.Errorf("%v: a machine: %t", from, known)
		}
	}
	m := thisMachine()
	if at := m.Processor(); at >= 0 && m.Distance(at, at) != 0 {
		t.Errorf("processor %d is at %d from itself", at, m.Distance(at, at))
	}
}
