package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/trace"
)

func TestPageNeedsNothingElse(t *testing.T) { browser.CheckFiles(t, embedded) }

// A message is JSON, whatever names there are, and long names are cut.
func TestMessagesAreJSON(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	m := maker{pool: p}
	for _, name := range []string{"", "a\"b", "</script>", "\n\nevent: part\ndata: {}\n\n", "\xff\xfe", strings.Repeat("é", 1000)} {
		message := m.part(&event.Part{
			At: 5, Spans: []event.Span{{Name: name}, {Name: name, Crashed: true}}, Open: []event.Span{{Name: "x"}},
			Marks: []event.Mark{{Name: name}}, Steals: map[[2]int]int{{1, 2}: 3},
		})
		data, ok := bytes.CutPrefix(message, []byte("event: part\ndata: "))
		if !ok || bytes.Count(message, []byte("\n")) != 3 || !bytes.HasSuffix(message, []byte("\n\n")) {
			t.Errorf("m.part(…): %q", message)
		}
		var parsed struct {
			Spans, Open, Steals []int
			Names               []string
		}
		if err := json.Unmarshal(data, &parsed); err != nil {
			t.Fatalf("json.Unmarshal(data, &parsed): %v: %s", err, data)
		}
		if len(parsed.Spans) != 14 || len(parsed.Open) != 5 || len(parsed.Steals) != 3 || len(parsed.Names) != 2 || len(parsed.Names[0]) > 210 {
			t.Errorf(`bytes.CutPrefix(message, []byte("event: part\ndata: ")): %s`, data)
		}
	}
}

// What a message costs the server at 64 workers that make more events than it has room for: five a second.
func BenchmarkMessage(b *testing.B) {
	const workers = 64
	p := filch.New(filch.WithWorkers(workers))
	defer p.Close()
	tell := event.SourceOf(p).(interface{ Tell(e event.Event) }).Tell
	r := trace.New(p)
	r.Start()
	defer r.Stop()
	follower, m := event.Follow(r), maker{pool: p}
	number := uint64(0)
	for b.Loop() {
		b.StopTimer()
		for range 500 {
			number++
			for w := range workers {
				tell(event.Event{At: clock.Now(), Kind: event.Published, Worker: w, Other: -1, ID: event.ForkID(w, number)})
				tell(event.Event{At: clock.Now(), Kind: event.Stolen, Worker: (w + 1) % workers, Other: w, ID: event.ForkID(w, number)})
				tell(event.Event{At: clock.Now(), Kind: event.Finished, Worker: (w + 1) % workers, Other: w, ID: event.ForkID(w, number)})
			}
		}
		b.StartTimer()
		b.SetBytes(int64(len(m.part(follower.Next(6000)))))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*5*100, "%core")
}
