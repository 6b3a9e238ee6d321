package live

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// A maker makes messages. Each is self-contained, because a page may miss any. Most of a message is lists of numbers,
// which the page splits by how many make one entry:
//
//	spans   sort, worker, begin, length, name, depth, crashed
//	open    sort, worker, begin, name, depth
//	arrows  from, to, out, in, n
//	steals  thief, victim, n; all of them, also those without an arrow
//	marks   worker, at, name
//	queues  worker, n
//	gaps    worker, begin, end
//
// Begins and moments are in nanoseconds before t, which is in nanoseconds since the program began. A name is an index
// into names.
type maker struct {
	pool  *filch.Pool
	b     []byte
	names map[string]int
	list  []string
}

// part returns the message with a part and the pool's statistics.
func (m *maker) part(p *event.Part) []byte {
	m.names, m.list = map[string]int{}, nil
	m.b = append(make([]byte, 0, 1024+24*p.Read), "event: part\ndata: {\"t\":"...)
	m.b = strconv.AppendInt(m.b, p.At, 10)
	m.field("wall", time.Now().UnixMilli())
	m.field("workers", int64(p.Workers))
	m.field("read", int64(p.Read))
	m.field("lost", int64(p.Lost))
	m.begin("spans")
	for i := range p.Spans {
		s := &p.Spans[i]
		crashed := int64(0)
		if s.Crashed {
			crashed = 1
		}
		m.numbers(int64(s.Sort), int64(s.Worker), p.At-s.Begin, s.End-s.Begin, m.name(s.Name), int64(s.Depth), crashed)
	}
	m.begin("open")
	for i := range p.Open {
		s := &p.Open[i]
		m.numbers(int64(s.Sort), int64(s.Worker), p.At-s.Begin, m.name(s.Name), int64(s.Depth))
	}
	m.begin("arrows")
	for _, a := range p.Arrows {
		out := a.Out
		if out == 0 {
			out = a.In
		}
		m.numbers(int64(a.From), int64(a.To), p.At-out, p.At-a.In, int64(a.N))
	}
	m.begin("steals")
	for pair, n := range p.Steals {
		m.numbers(int64(pair[0]), int64(pair[1]), int64(n))
	}
	m.begin("marks")
	for _, k := range p.Marks {
		m.numbers(int64(k.Worker), p.At-k.At, m.name(k.Name))
	}
	m.begin("queues")
	latest := map[int]uint64{}
	for _, c := range p.Counts {
		latest[c.Worker] = c.N
	}
	for worker, n := range latest {
		m.numbers(int64(worker), int64(n))
	}
	m.begin("gaps")
	for _, g := range p.Gaps {
		m.numbers(int64(g.Worker), p.At-g.Begin, p.At-g.End)
	}
	m.value("names", m.list)
	m.value("stats", m.pool.Stats())
	return append(m.b, "}\n\n"...)
}

func (m *maker) field(name string, n int64) {
	m.b = append(m.b, ',', '"')
	m.b = append(m.b, name...)
	m.b = append(m.b, '"', ':')
	m.b = strconv.AppendInt(m.b, n, 10)
}

// begin begins a list, after another list or a number.
func (m *maker) begin(name string) {
	m.end()
	m.b = append(m.b, ',', '"')
	m.b = append(m.b, name...)
	m.b = append(m.b, '"', ':', '[')
}

// end ends the current list, if any.
func (m *maker) end() {
	if n := len(m.b); m.b[n-1] == ',' {
		m.b[n-1] = ']'
	} else if m.b[n-1] == '[' {
		m.b = append(m.b, ']')
	}
}

// numbers appends numbers to the current list.
func (m *maker) numbers(all ...int64) {
	for _, n := range all {
		m.b = append(strconv.AppendInt(m.b, n, 10), ',')
	}
}

func (m *maker) value(name string, v any) {
	m.end()
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the types are plain
	}
	m.b = append(m.b, ',', '"')
	m.b = append(m.b, name...)
	m.b = append(append(m.b, '"', ':'), b...)
}

// name returns the index of a name.
func (m *maker) name(s string) int64 {
	const longest = 200
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	n, ok := m.names[s]
	if !ok {
		n = len(m.list)
		m.names[s] = n
		m.list = append(m.list, s)
	}
	return int64(n)
}
