package trace

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/event"
)

// WritePerfetto writes what was recorded; see [Trace.WritePerfetto].
func (r *Recorder) WritePerfetto(w io.Writer) error { return r.Snapshot().WritePerfetto(w) }

// WritePerfetto writes t as a trace of Perfetto: TrackEvents in its protocol buffers, which
// ui.perfetto.dev and trace_processor open. Times are in nanoseconds since Start. A worker is a
// track. Steals are flows. Queues are counters. WritePerfetto returns the first error of w.
//
// The messages are those of protos/perfetto/trace in its repository.
func (t *Trace) WritePerfetto(w io.Writer) error {
	if w == nil {
		panic("trace: WritePerfetto: w is nil")
	}
	p := &perfetto{w: bufio.NewWriter(w)}
	line := t.timeline()
	p.tracks(t.Pool, line)
	p.events(line)
	return p.w.Flush()
}

// Numbers of fields: of Trace,
const tracePacket = 1

// of TracePacket,
const (
	packetTimestamp  = 8
	packetSequence   = 10 // trusted_packet_sequence_id
	packetTrackEvent = 11
	packetFlags      = 13 // sequence_flags
	packetTrack      = 60 // track_descriptor
)

// of TrackDescriptor; that of a process would not keep the order of the tracks in it,
const (
	trackUUID     = 1
	trackLabel    = 2 // name
	trackParent   = 5 // parent_uuid
	trackCounter  = 8
	trackOrdering = 11 // child_ordering
	trackRank     = 12 // sibling_order_rank
)

// of TrackEvent and DebugAnnotation.
const (
	eventAnnotations  = 4
	eventType         = 9
	eventTrack        = 11
	eventCategories   = 22
	eventName         = 23
	eventCounterValue = 30
	eventFlows        = 47
	eventFlowEnds     = 48 // terminating_flow_ids
	annotationString  = 6
	annotationName    = 10
)

// Values of enumerations.
const (
	isCleared      = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	byRank         = 3 // EXPLICIT
	typeSliceBegin = 1
	typeSliceEnd   = 2
	typeInstant    = 3
	typeCounter    = 4
)

// The tracks' numbers: 1, odd ones for workers, and even ones beside them.
const poolTrack = 1

func workerTrack(worker int) uint64 {
	if worker < 0 {
		return 2 * uint64(-worker)
	}
	return 2*uint64(worker) + 3
}

func countTrack(c count) uint64 {
	n := 1<<32 + 2*workerTrack(c.worker)
	if c.name == queuedName {
		n++
	}
	return n
}

// perfetto writes packets.
type perfetto struct{ w *bufio.Writer }

// packet writes one.
func (p *perfetto) packet(m message) {
	p.w.Write(message(nil).bytes(tracePacket, m)) // Flush returns its error
}

func (p *perfetto) tracks(pool string, line *timeline) {
	p.packet(message(nil).number(packetSequence, 1).number(packetFlags, isCleared).bytes(packetTrack,
		message(nil).number(trackUUID, poolTrack).text(trackLabel, pool).number(trackOrdering, byRank)))
	for worker := -line.asides; worker < line.workers; worker++ {
		p.track(message(nil).number(trackUUID, workerTrack(worker)).text(trackLabel, trackName(worker)), worker+line.asides)
	}
	known := map[uint64]bool{}
	for _, c := range line.counts {
		if id := countTrack(c); !known[id] {
			known[id] = true
			p.track(message(nil).number(trackUUID, id).text(trackLabel, c.title()).bytes(trackCounter, nil), line.workers+line.asides)
		}
	}
}

// track writes the track of d, below that of the pool.
func (p *perfetto) track(d message, rank int) {
	p.packet(message(nil).number(packetSequence, 1).bytes(packetTrack, d.number(trackParent, poolTrack).number(trackRank, uint64(rank))))
}

func (p *perfetto) events(line *timeline) {
	flows := map[uint64]bool{}
	for _, a := range line.arrows {
		flows[a.id] = true
	}
	for _, s := range line.steps {
		switch s.kind {
		case begins:
			p.begin(&line.spans[s.i], flows)
		case ends:
			span := &line.spans[s.i]
			p.event(span.end, message(nil).number(eventType, typeSliceEnd).number(eventTrack, workerTrack(span.worker)))
		case marks:
			mark := &line.marks[s.i]
			m := message(nil).number(eventType, typeInstant).number(eventTrack, workerTrack(mark.worker)).text(eventName, mark.name).text(eventCategories, "mark")
			if mark.event.Kind == event.Published && flows[mark.event.ID] {
				m = m.fixed(eventFlows, mark.event.ID)
			}
			p.event(mark.at, m)
		}
	}
	for _, c := range line.counts {
		p.event(c.at, message(nil).number(eventType, typeCounter).number(eventTrack, countTrack(c)).number(eventCounterValue, c.n))
	}
}

func (p *perfetto) begin(s *span, flows map[uint64]bool) {
	m := message(nil).number(eventType, typeSliceBegin).number(eventTrack, workerTrack(s.worker)).text(eventName, s.name).text(eventCategories, s.sort.String())
	args := s.args()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		m = m.bytes(eventAnnotations, message(nil).text(annotationName, name).text(annotationString, args[name]))
	}
	if (s.sort == aFork || s.sort == aHelp) && flows[s.id] {
		m = m.fixed(eventFlowEnds, s.id)
	}
	p.event(s.begin, m)
}

func (p *perfetto) event(at int64, m message) {
	p.packet(message(nil).number(packetTimestamp, uint64(at)).number(packetSequence, 1).bytes(packetTrackEvent, m))
}

// A message is one of protocol buffers, as bytes.
type message []byte

// Wire types.
const (
	varint = 0
	fixed  = 1
	length = 2
)

func (m message) tag(field, wire int) message {
	return binary.AppendUvarint(m, uint64(field)<<3|uint64(wire))
}

func (m message) number(field int, n uint64) message {
	return binary.AppendUvarint(m.tag(field, varint), n)
}

func (m message) fixed(field int, n uint64) message {
	return binary.LittleEndian.AppendUint64(m.tag(field, fixed), n)
}

func (m message) bytes(field int, b []byte) message {
	return append(binary.AppendUvarint(m.tag(field, length), uint64(len(b))), b...)
}

// text is bytes of UTF-8, which readers of protocol buffers may insist on.
func (m message) text(field int, s string) message {
	return m.bytes(field, []byte(strings.ToValidUTF8(s, "\ufffd")))
}
