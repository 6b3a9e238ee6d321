package steal

import (
	"math"
	"testing"
	"testing/fstest"

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

// A processor that the machine did not have when it was read is far.
func TestAProcessorThatCameLater(t *testing.T) {
	m := newDistances(sockets(t), nil)
	for _, c := range [][3]int{{0, 0, topology.Itself}, {0, 4, topology.SameCore}, {0, 9, math.MaxUint8}, {9, 0, math.MaxUint8}} {
		if d := m.Distance(c[0], c[1]); d != c[2] {
			t.Errorf("from %d to %d: %d, not %d", c[0], c[1], d, c[2])
		}
	}
}

// Workers look first at what is near on the machine, as its files describe it.
func TestNearestGoesByTheMachine(t *testing.T) {
	o := NearestOn(newDistances(sockets(t), nil))
	for w, want := range [][]int{0: {4}, 4: {0}, 5: {1}, 7: {3}} {
		if len(want) == 0 {
			continue
		}
		thief := o.Thief(uint64(w))
		for range 10 {
			var l Look
			l.Begin(Numbered(8), w, 7)
			thief.Look(&l)
			for i := range 7 {
				v, _ := l.Next()
				if near := v%4/2 == w%4/2; near != (i < 3) || i == 0 && v != want[0] {
					t.Errorf("worker %d looks at %d as number %d", w, v, i)
				}
			}
		}
	}
}

// A processor of this machine is near itself, and who has not said where it is sees no order.
func TestNearestOnThisMachine(t *testing.T) {
	m := Nearest.(Located)
	if at := m.Processor(); at >= 0 && thisMachine().Distance(at, at) != 0 {
		t.Errorf("processor %d is at %d from itself", at, thisMachine().Distance(at, at))
	}
	near, random := Nearest.Thief(3), RandomStart.Thief(3)
	for range 20 {
		var l, plain Look
		l.Begin(Numbered(9), -1, 9)
		plain.Begin(Numbered(9), -1, 9)
		near.Look(&l)
		random.Look(&plain)
		for range 9 {
			got, _ := l.Next()
			if want, _ := plain.Next(); got != want {
				t.Errorf("%d, not %d", got, want)
			}
		}
	}
}

// The generator is xorshift64, which comes to all numbers but 0.
func TestTheGeneratorIsXorshift64(t *testing.T) {
	r := random(1)
	for i, want := range []random{1082269761, 1152992998833853505, 11177516664432764457} {
		if got := r.next(); got != want {
			t.Errorf("number %d is %d, not %d", i, got, want)
		}
	}
}
