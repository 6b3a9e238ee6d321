package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/trace"
)

// transcript makes a graph of a transcript of package trace, and returns it as text.
func transcript(t *testing.T, name string) string {
	t.Helper()
	text, err := os.Open(filepath.Join("../../../trace/testdata", name+".txt"))
	if err != nil {
		t.Fatal("os.Open(…):", err)
	}
	defer func() { _ = text.Close() }()
	g, err := Trace("", 0, text)
	if err != nil {
		t.Fatal(`Trace("", 0, text):`, err)
	}
	return graphText(t, g)
}

// graphText returns the parts of a graph, in milliseconds.
func graphText(t *testing.T, g *dag.Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal("g.Write(&b):", err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(b.String(), `{"graph":`), "}\n")
	return strings.NewReplacer("000000", "", `{"series":[`, "[", `]}`, "]", `{"parallel":[`, "parallel[").Replace(text)
}

// What pools do in the examples of package trace, in milliseconds.
func TestGraphsOfTranscripts(t *testing.T) {
	for name, want := range map[string]string{
		"stolen":     `parallel[1,3]`,
		"taken-back": `parallel[8,parallel[3,parallel[1,2]]]`,
		"helped":     `parallel[parallel[2,5],1]`,
		"after":      `parallel[1,parallel[1,1]]`,
		"parks":      `parallel[1,parallel[1,1]]`,
		"blocking":   `parallel[2,2]`, // one blocks for 5 ms
		"gives-way":  `parallel[4,2]`, // one gives way for 2 ms
		"crashes":    `1`,
		"observed":   `2`,
	} {
		if got := transcript(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// What no transcript there has.
func TestGraphsOfEvents(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"calls one after the other, and at the same time", `
  1000000.000us worker 0   is called
  2000000.000us worker 0   leaves
  2000000.000us worker 0   is called
  2500000.000us worker 1   is called
  4000000.000us worker 1   leaves
  5000000.000us worker 0   leaves
  6000000.000us worker 1   is called
  9000000.000us worker 1   leaves`, `[1000,parallel[3000,1500],3000]`},
		{"a fork that is handed on", `
  0.000us worker 0   is called
  0.000us worker 0   publishes fork 0.1
  1000.000us worker 1   steals fork 0.1 from worker 0
  1000.000us worker 1   hands on fork 0.1 of worker 0
  2000.000us worker 2   takes up fork 0.1 of worker 0
  3000.000us worker 0   leaves
  9000.000us worker 2   finishes fork 0.1 of worker 0`, `parallel[7,3]`},
		{"a fork between work, which is not seen to be awaited", `
  0.000us worker 0   is called
  1000.000us worker 0   publishes fork 0.1
  2000.000us worker 1   steals fork 0.1 from worker 0
  4000.000us worker 1   finishes fork 0.1 of worker 0
  6000.000us worker 0   leaves`, `[1,parallel[2,5]]`},
		{"asyncs, all of which are awaited", `
  0.000us worker 0   is called
  0.000us worker 0   publishes fork 0.1
  0.000us worker 0   publishes fork 0.2
  0.000us worker 1   steals fork 0.1 from worker 0
  1000.000us worker 0   takes back fork 0.2
  2000.000us worker 0   waits for fork 0.0
  4000.000us worker 1   finishes fork 0.1 of worker 0
  4000.000us worker 0   goes on
  5000.000us worker 0   leaves`, `[parallel[4,2],1]`},
		{"a fork that is older than the recording", `
  0.000us worker 1   steals fork 0.7 from worker 0
  3000.000us worker 1   finishes fork 0.7 of worker 0`, `3`},
		{"what has not ended", `
  0.000us worker 0   is called
  0.000us pool   starts task 1
  0.000us worker 0   publishes fork 0.1
  1000.000us worker 1   steals fork 0.1 from worker 0
  2000.000us worker 1   publishes fork 1.1`, `parallel[parallel[1,2],2]`},
	} {
		g, err := Trace("", 0, strings.NewReader("# a remark\n"+c.text))
		if err != nil {
			t.Fatal(`Trace("", 0, …):`, err)
		}
		if got := graphText(t, g); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A recording of a pool has all its work, and no path that is longer than it took. The clock is that of a bubble.
func TestGraphOfARecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		halves := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 1 {
				time.Sleep(time.Millisecond)
				return 1
			}
			h := f.Fork(n / 2)
			return f.Call(n-n/2) + f.Join(h)
		})
		p := filch.New(filch.WithWorkers(4))
		r := trace.New(p)
		r.Start()
		begin := time.Now()
		halves.Call(p, 64)
		took := time.Since(begin)
		r.Stop()
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal("r.WriteText(&text):", err)
		}
		g, err := Trace("halves", 0, &text)
		if err != nil {
			t.Fatal(`Trace("halves", 0, &text):`, err)
		}
		f := facts(t, g)
		if f.Work != int64(64*time.Millisecond) || f.Span > int64(took) || f.Threads < 5 {
			t.Errorf("%+v, which took %v", f, took)
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	})
}

func TestErrorsOfTrace(t *testing.T) {
	for text, wrong := range map[string]string{
		"": "nothing was recorded that took time",
		"0.000us worker 0   is called\n1.000us worker 0   falls asleep\n":  `record: Trace of t: line 2: `,
		"# 17 earlier events are lost\n":                                   "line 1: 17 earlier events are lost; record with room for more",
		strings.Repeat("x", 2<<20):                                         "token too long",
		"0.000us worker 0   is called\n1099511627.777us worker 0   leaves": "work of a step is 1099511627777",
	} {
		if g, err := Trace("t", 0, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), wrong) || g != nil {
			t.Errorf(`Trace("t", 0, strings.NewReader(text)): %.60q: %v`, text, err)
		}
	}
	if _, err := Trace("t", -1, strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "finest is -1ns") {
		t.Error(`Trace("t", -1, strings.NewReader("")):`, err)
	}
}

// Whatever events there are, their graph can be made, if it has any work.
func FuzzTrace(f *testing.F) {
	for _, name := range []string{"helped", "taken-back", "crashes", "gives-way"} {
		text, err := os.ReadFile(filepath.Join("../../../trace/testdata", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, least := range []time.Duration{0, time.Millisecond} {
			g, err := Trace("", least, strings.NewReader(text))
			if err == nil {
				facts(t, g)
			}
		}
	})
}
