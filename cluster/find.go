package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// search looks for a task in a stream whose subjects have no IDs: it reads messages until one has the ID. README.md says why what it does
// not find is surely not there.
type search struct {
	node            *Node
	id              token
	stream, subject string // of the messages that are read
	together        bool   // any server answers a request for many, whatever their subjects
	read, all       uint64 // how many were read, and are in the stream
}

// find returns the message of a task in a stream, among those of a subject, or ErrUnknownTask if it was not there when find was called.
// If ctx ends before, the error says how far it is.
func (n *Node) find(ctx context.Context, stream, subject string, id token) (*jetstream.RawStreamMsg, error) {
	var s jetstream.Stream
	ofLeader := func(ctx context.Context) (err error) { s, err = n.streamOf(ctx, stream); return err }
	if err := n.ask(ctx, ofLeader, api("STREAM.INFO."+stream)); err != nil {
		return nil, err
	}
	info := s.CachedInfo()
	f := search{node: n, id: id, stream: stream, subject: subject, together: info.Config.AllowDirect, all: info.State.Msgs}
	first, end := max(1, info.State.FirstSeq), info.State.LastSeq+1
	newest := max(first, end-min(end, askedTogether)) // what is asked for is often new, or runs and so is old
	m, err := f.between(ctx, newest, end)
	if m == nil && err == nil {
		m, err = f.between(ctx, first, newest)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("cluster: looking for %s in the stream %s: %d of %d messages were read: %w", id.text(), stream, min(f.read, f.all), f.all, causeOf(ctx, err))
	case err != nil:
		return nil, fmt.Errorf("cluster: looking for %s in the stream %s: %w", id.text(), stream, err)
	case m == nil:
		return nil, ErrUnknownTask
	}
	return m, nil
}

// between returns the message of the task from one sequence to before another, or nil.
func (f *search) between(ctx context.Context, from, to uint64) (*jetstream.RawStreamMsg, error) {
	for from < to {
		if f.together {
			next, m, err := f.many(ctx, from)
			if m != nil || err != nil {
				return m, err
			}
			if next > from {
				from = next
				continue
			}
		}
		m, err := f.one(ctx, from)
		if m == nil || err != nil || f.isTask(m.Header) {
			return m, err
		}
		f.read++
		from = m.Sequence + 1
	}
	return nil, nil
}

// many asks any server for the messages from a sequence on, as many as it answers with, and returns the task's, or the sequence after the last.
func (f *search) many(ctx context.Context, from uint64) (next uint64, found *jetstream.RawStreamMsg, err error) {
	next = from
	to := api("DIRECT.GET." + f.stream)
	err = f.node.ask(ctx, func(ctx context.Context) error {
		request := map[string]any{"seq": next, "batch": askedTogether, "max_bytes": answeredTogether}
		_, err := f.node.askTogether(ctx, to, request, func(m *nats.Msg, subject string) {
			seq, _ := strconv.ParseUint(header(m.Header, jetstream.SequenceHeader), 10, 64)
			next = max(next, seq+1)
			f.read++
			if found == nil && f.isTask(m.Header) {
				stored, _ := time.Parse(time.RFC3339Nano, header(m.Header, jetstream.TimeStampHeaer))
				found = &jetstream.RawStreamMsg{Subject: subject, Sequence: seq, Header: m.Header, Data: m.Data, Time: stored}
			}
		})
		return err
	}, to)
	return next, found, err
}

// one asks the leader of the stream for the next message from a sequence on. It returns nil if there is none.
func (f *search) one(ctx context.Context, from uint64) (*jetstream.RawStreamMsg, error) {
	request, err := json.Marshal(map[string]any{"seq": from, "next_by_subj": f.subject})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Headers []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	to := api("STREAM.MSG.GET." + f.stream)
	err = f.node.ask(ctx, func(ctx context.Context) error {
		m, err := f.node.nc.RequestWithContext(ctx, to, request)
		if err != nil {
			return err
		}
		answer.Error = nil
		if err := json.Unmarshal(m.Data, &answer); err != nil || answer.Error == nil {
			return err
		}
		return answer.Error
	}, to)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := answer.Message
	h, err := nats.DecodeHeadersMsg(m.Headers)
	if len(m.Headers) == 0 {
		h, err = nil, nil
	}
	return &jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Seq, Header: h, Data: m.Data, Time: m.Time}, err
}

// isTask reports whether a message is the task's.
func (f *search) isTask(h nats.Header) bool {
	due, err := dueID(h)
	return header(h, headerID) == string(f.id) || err == nil && due == f.id
}
