package graph_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/trace/graph"
)

// In a bubble, work and span are what the program sleeps.
func TestWorkAndSpanAreWhatTheProgramSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		err := graph.Record(&file, "sleeps", func(w *filch.Worker) {
			time.Sleep(time.Millisecond)
			filch.Join(w,
				func(*filch.Worker) int { time.Sleep(3 * time.Millisecond); return 0 },
				func(*filch.Worker) int { time.Sleep(5 * time.Millisecond); return 0 })
		})
		if err != nil {
			t.Fatal(`graph.Record(&file, "sleeps", …):`, err)
		}
		g, err := dag.ReadGraph(&file)
		if err != nil {
			t.Fatal("dag.ReadGraph(&file):", err)
		}
		f, err := dag.Serial(g, nil)
		if err != nil {
			t.Fatal("dag.Serial(g, nil):", err)
		}
		if g.Name != "sleeps" || f.Work != 9e6 || f.Span != 6e6 {
			t.Errorf("%q has work %d and span %d", g.Name, f.Work, f.Span)
		}
	})
}

// full is a writer without room.
type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := graph.Record(full{}, "", func(*filch.Worker) { time.Sleep(time.Millisecond) }); !errors.Is(err, errFull) {
			t.Error(`graph.Record(…, "", …):`, err)
		}
		var file bytes.Buffer
		if err := graph.Record(&file, "", func(*filch.Worker) {}); err == nil || file.Len() > 0 {
			t.Errorf("%v, and %q is written", err, file.String())
		}
	})
}

func TestPanicsOfRecordTellWhatIsWrong(t *testing.T) {
	boom := errors.New("boom")
	for want, record := range map[string]func(){
		"graph: Record: out is nil": func() { _ = graph.Record(nil, "", func(*filch.Worker) {}) },
		"graph: Record: f is nil":   func() { _ = graph.Record(&bytes.Buffer{}, "", nil) },
		"boom":                      func() { _ = graph.Record(&bytes.Buffer{}, "", func(*filch.Worker) { panic(boom) }) },
	} {
		func() {
			defer func() {
				got := recover()
				if p, ok := got.(*filch.PanicError); ok {
					got = p.Value
				}
				if fmt.Sprint(got) != want {
					t.Errorf("panics with %v, not %s", got, want)
				}
			}()
			record()
		}()
	}
}
