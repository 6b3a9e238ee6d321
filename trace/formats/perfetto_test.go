package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bufbuild/protocompile"
	"github.com/filch-go/filch/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// readPerfetto reads what t writes, by the schema. It fails if there is a field that the schema does not have.
func readPerfetto(t *testing.T, tr *trace.Trace) protoreflect.List {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{}}
	files, err := compiler.Compile(t.Context(), "perfetto.proto")
	if err != nil {
		t.Fatal(`compiler.Compile(t.Context(), "perfetto.proto"):`, err)
	}
	var b bytes.Buffer
	if err := tr.WritePerfetto(&b); err != nil {
		t.Fatal("tr.WritePerfetto(&b):", err)
	}
	m := dynamicpb.NewMessage(files[0].Messages().ByName("Trace"))
	if err := (proto.UnmarshalOptions{}).Unmarshal(b.Bytes(), m); err != nil {
		t.Fatal("proto.UnmarshalOptions{…}.Unmarshal(b.Bytes(), m):", err)
	}
	checkKnown(t, m)
	return get(m, "packet").List()
}

// checkKnown checks that m has no fields but those of the schema, and that its text is UTF-8.
func checkKnown(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if u := m.GetUnknown(); len(u) > 0 {
		t.Errorf("%s has fields that are not in the schema: %x", m.Descriptor().Name(), []byte(u))
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() == protoreflect.StringKind && !f.IsList():
			if !utf8.ValidString(v.String()) {
				t.Errorf("%s is %q, which is not UTF-8", f.FullName(), v.String())
			}
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				checkKnown(t, v.List().Get(i).Message())
			}
		default:
			checkKnown(t, v.Message())
		}
		return true
	})
}

// get returns a field, or its default.
func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func has(m protoreflect.Message, name protoreflect.Name) bool {
	return m.Has(m.Descriptor().Fields().ByName(name))
}

// A track is one of the file, as a reader builds it.
type track struct {
	name    string
	parent  uint64
	rank    int64
	counter bool
	open    []string // spans
	spans   int
	last    uint64 // time
}

// A reader keeps what it has seen of a file.
type reader struct {
	t      *testing.T
	tracks map[uint64]*track
	flows  map[uint64]uint64 // where they come from
	ends   int               // of flows
}

func read(t *testing.T, tr *trace.Trace) *reader {
	t.Helper()
	r := &reader{t, map[uint64]*track{}, map[uint64]uint64{}, 0}
	packets := readPerfetto(t, tr)
	for i := range packets.Len() {
		p := packets.Get(i).Message()
		if get(p, "trusted_packet_sequence_id").Uint() != 1 || has(p, "sequence_flags") != (i == 0) || i == 0 && get(p, "sequence_flags").Uint() != 1 {
			t.Errorf("packet %d is %v", i, p)
		}
		if has(p, "track_descriptor") {
			r.describe(get(p, "track_descriptor").Message())
		} else {
			r.event(get(p, "timestamp").Uint(), get(p, "track_event").Message())
		}
	}
	for _, k := range r.tracks {
		if len(k.open) > 0 {
			t.Errorf("%s ends with %q open", k.name, k.open)
		}
	}
	return r
}

func (r *reader) describe(d protoreflect.Message) {
	id := get(d, "uuid").Uint()
	k := &track{name: get(d, "name").String(), parent: get(d, "parent_uuid").Uint(), rank: get(d, "sibling_order_rank").Int(), counter: has(d, "counter")}
	root := len(r.tracks) == 0
	switch {
	case id == 0 || r.tracks[id] != nil || k.name == "" || k.rank < 0:
		r.t.Errorf("track %v", d)
	case root && (k.parent != 0 || get(d, "child_ordering").Enum() != 3):
		r.t.Errorf("the first track is %v", d)
	case !root && (r.tracks[k.parent] == nil || has(d, "child_ordering")):
		r.t.Errorf("the parent of %v", d)
	}
	r.tracks[id] = k
}

func (r *reader) event(at uint64, e protoreflect.Message) {
	id := get(e, "track_uuid").Uint()
	k := r.tracks[id]
	if k == nil || at < k.last || at > 1<<62 || (get(e, "type").Enum() == 4) != k.counter {
		r.t.Errorf("at %d, there is %v on %+v", at, e, k)
		return
	}
	k.last = at
	name := get(e, "name").String()
	switch get(e, "type").Enum() {
	case 1:
		k.open = append(k.open, name)
		k.spans++
	case 2:
		if len(k.open) == 0 || name != "" {
			r.t.Errorf("at %d, there is %v on %s", at, e, k.name)
			return
		}
		k.open = k.open[:len(k.open)-1]
	case 3, 4:
	default:
		r.t.Errorf("there is %v", e)
	}
	r.flow(id, e)
}

// flow keeps where flows come from, and checks that each that ends has come from another track.
func (r *reader) flow(id uint64, e protoreflect.Message) {
	from, to := get(e, "flow_ids").List(), get(e, "terminating_flow_ids").List()
	for i := range from.Len() {
		r.flows[from.Get(i).Uint()] = id
	}
	for i := range to.Len() {
		if out := r.flows[to.Get(i).Uint()]; out == 0 || out == id {
			r.t.Errorf("a flow from track %d to %d: %v", out, id, e)
		}
		r.ends++
	}
}

// What is written for Perfetto is read by its schema, and has the spans and arrows of the form for Chrome.
func TestPerfetto(t *testing.T) {
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			all := record(t, program)
			for _, tr := range []*trace.Trace{all, all.Last(2_500_000)} {
				r := read(t, tr)
				var chrome struct {
					TraceEvents []struct {
						Ph   string
						Name string
						Tid  int
						Args map[string]any
					}
				}
				if err := json.Unmarshal(chromeText(t, tr), &chrome); err != nil {
					t.Fatal("json.Unmarshal(chromeText(t, tr), &chrome):", err)
				}
				threads, spans, arrows := map[int]string{}, map[string]int{}, 0
				for _, e := range chrome.TraceEvents {
					switch {
					case e.Name == "thread_name":
						threads[e.Tid] = e.Args["name"].(string)
					case e.Ph == "X":
						spans[threads[e.Tid]]++
					case e.Ph == "f":
						arrows++
					}
				}
				got := map[string]int{}
				for _, k := range r.tracks {
					if k.spans > 0 {
						got[k.name] = k.spans
					}
				}
				if !maps.Equal(got, spans) || r.ends != arrows || name != "nothing" && len(spans) < 2 || name == "forks" && tr == all && arrows == 0 {
					t.Errorf("spans %v, for Chrome %v; %d arrows, for Chrome %d", got, spans, r.ends, arrows)
				}
			}
		})
	}
}

// The tracks of workers stand in the order of their numbers, what runs beside them before, and counts after.
func TestPerfettoTracks(t *testing.T) {
	r := read(t, record(t, programs["tasks"]))
	all := slices.SortedStableFunc(maps.Values(r.tracks), func(a, b *track) int { return int(a.rank - b.rank) })
	var names []string
	counts := 0
	for _, k := range all {
		switch {
		case k.parent == 0:
			if !strings.HasPrefix(k.name, "pool") {
				t.Errorf("the pool is %q", k.name)
			}
		case k.counter:
			counts++
		case counts > 0:
			t.Errorf("%s stands after counts", k.name)
		default:
			names = append(names, k.name)
		}
	}
	for i, name := range names {
		want := fmt.Sprintf("no worker %d", 3-i)
		if i == 2 {
			want = "no worker"
		} else if i > 2 {
			want = fmt.Sprintf("worker %d", i-3)
		}
		if name != want {
			t.Errorf("track %d is %s, not %s", i, name, want)
		}
	}
	if len(names) < 6 || counts == 0 {
		t.Errorf("%d tracks and %d counts", len(names), counts)
	}
}
