package cluster

import (
	"bytes"
	"testing"

	"github.com/nats-io/nats.go"
)

// Whatever a message is, it is read as a task that would be written the same, or refused.
func FuzzTask(f *testing.F) {
	whole := (&task{id: "a", codec: "json", from: "n", key: "k", time: 5, data: []byte("1")}).message("s")
	f.Add([]byte("NATS/1.0\r\nFilch-Version: 1\r\nFilch-Id: a\r\nFilch-From: n\r\nFilch-Time: 5\r\n\r\n"), whole.Data)
	f.Add([]byte("NATS/1.0 404 None\r\nFilch-Version: 2\r\n\r\n"), []byte{})
	f.Add([]byte("NATS/1.0\r\nFilch-Version: 1\r\nFilch-Id: a b\r\nFilch-Time: -5\r\n\r\n"), []byte{0})
	f.Fuzz(func(t *testing.T, headers, data []byte) {
		h, err := nats.DecodeHeadersMsg(headers)
		if err != nil {
			h = nil // so the library passes it on
		}
		read, err := parseTask("h", h, data)
		if err != nil {
			return
		}
		again, err := parseTask("h", read.message("s").Header, data)
		if err != nil || again.id != read.id || again.from != read.from || again.key != read.key || again.codec != read.codec || again.time != read.time {
			t.Errorf("%+v is written and read as %+v, %v", read, again, err)
		}
	})
}

// Whatever an outcome is, it is read as one that would be written the same, or refused.
func FuzzOutcome(f *testing.F) {
	f.Add(outcome{Status: statusDone, Codec: "json", Attempts: 2, Node: "n", Handler: "h@1", data: []byte("1\n2")}.bytes())
	f.Add(outcome{Status: statusFailed, Error: "an error"}.bytes())
	f.Add([]byte(`{"status":"done"}`))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseOutcome(data)
		if err != nil {
			return
		}
		again, err := parseOutcome(o.bytes())
		if err != nil || !bytes.Equal(again.data, o.data) || !bytes.Equal(again.bytes(), o.bytes()) {
			t.Errorf("%+v is written and read as %+v, %v", o, again, err)
		}
		_ = o.err("id")
	})
}

func TestLongTextsAreCutBetweenRunes(t *testing.T) {
	for _, text := range []string{"", "short", string(bytes.Repeat([]byte("é"), shortError)), string(bytes.Repeat([]byte{0xff}, 2*shortError))} {
		if got := short(text); len(got) > shortError+len("...") || len(text) > shortError && len(got) < shortError || len(text) <= shortError && got != text {
			t.Errorf("%d bytes become %d", len(text), len(got))
		}
	}
}
