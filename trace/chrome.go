package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// WriteChrome writes the recorded events; see [Trace.WriteChrome].
func (r *Recorder) WriteChrome(w io.Writer) error { return r.Snapshot().WriteChrome(w) }

// WriteChrome writes t as a JSON object in the Trace Event Format of Chrome, which ui.perfetto.dev, chrome://tracing
// and Speedscope open. Times are in microseconds since Start, workers are threads, and steals are flows. WriteChrome
// returns the first error of w.
func (t *Trace) WriteChrome(w io.Writer) error {
	if w == nil {
		panic("trace: WriteChrome: w is nil")
	}
	c := &chrome{w: bufio.NewWriter(w)}
	line := t.timeline()
	c.w.WriteString(`{"displayTimeUnit":"ns","otherData":{"lost":"` + strconv.FormatUint(t.Lost, 10) + `"},"traceEvents":[`)
	c.event(chromeEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": t.Pool}})
	for worker := -line.asides; worker < line.workers; worker++ {
		c.event(chromeEvent{Name: "thread_name", Phase: "M", Thread: line.thread(worker), Args: map[string]any{"name": trackName(worker)}})
		c.event(chromeEvent{Name: "thread_sort_index", Phase: "M", Thread: line.thread(worker), Args: map[string]any{"sort_index": worker + line.asides}})
	}
	for _, s := range line.spans {
		e := chromeEvent{Name: s.name, Category: s.sort.String(), Phase: "X", At: micros(s.begin), Thread: line.thread(s.worker), Args: s.args()}
		took := micros(s.end - s.begin)
		e.Took = &took
		c.event(e)
	}
	for i, a := range line.arrows {
		c.event(chromeEvent{Name: "steal", Category: "steal", Phase: "s", At: micros(a.out), Thread: line.thread(a.from), ID: i + 1, Args: map[string]any{"fork": forkName(a.id)}})
		c.event(chromeEvent{Name: "steal", Category: "steal", Phase: "f", Binding: "e", At: micros(a.in), Thread: line.thread(a.to), ID: i + 1})
	}
	for _, m := range line.marks {
		c.event(chromeEvent{Name: m.name, Category: "mark", Phase: "i", At: micros(m.at), Thread: line.thread(m.worker), Scope: "t"})
	}
	for _, n := range line.counts {
		c.event(chromeEvent{Name: n.title(), Phase: "C", At: micros(n.at), Args: map[string]any{n.name: n.n}})
	}
	c.w.WriteString("\n]}\n")
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}

// A chromeEvent is an event of the format.
type chromeEvent struct {
	Name     string  `json:"name"`
	Category string  `json:"cat,omitempty"`
	Phase    string  `json:"ph"`
	At       micros  `json:"ts"`
	Took     *micros `json:"dur,omitempty"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	ID       int     `json:"id,omitempty"`
	Binding  string  `json:"bp,omitempty"`
	Scope    string  `json:"s,omitempty"`
	Args     any     `json:"args,omitempty"`
}

// micros are nanoseconds that are written as microseconds.
type micros int64

func (m micros) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/1000, 'f', 3, 64), nil
}

// chrome writes events, one a line.
type chrome struct {
	w    *bufio.Writer
	some bool
	err  error
}

func (c *chrome) event(e chromeEvent) {
	b, err := json.Marshal(e)
	if err != nil {
		c.err = err
		return
	}
	if c.some {
		c.w.WriteByte(',')
	}
	c.some = true
	c.w.WriteByte('\n')
	c.w.Write(b) // Flush returns its error
}

// trackName returns the name of a worker's track.
func trackName(worker int) string {
	switch {
	case worker >= 0:
		return "worker " + strconv.Itoa(worker)
	case worker == -1:
		return "no worker"
	}
	return "no worker " + strconv.Itoa(-worker)
}

// title returns the name of the track of a count.
func (c *count) title() string {
	if c.worker < 0 {
		return c.name + " of the pool"
	}
	return c.name + " of " + trackName(c.worker)
}

// thread returns a worker's thread number; threads count from 0.
func (line *timeline) thread(worker int) int {
	if worker >= -1 {
		return worker + 1
	}
	return line.workers - worker - 1
}

// args are what viewers show of a span besides its name.
func (s *span) args() map[string]string {
	args := map[string]string{}
	switch {
	case s.id == 0:
	case s.sort == aTask:
		args["task"] = taskName(s.id)
	default:
		args["fork"] = forkName(s.id)
	}
	if s.other >= 0 {
		args["other"] = trackName(s.other)
	}
	if s.waited >= 0 {
		args["waited"] = time.Duration(s.waited).String()
	}
	if s.open {
		args["open"] = "yes"
	}
	if s.crashed {
		args["crashed"] = "yes"
	}
	return args
}
