package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	want := task{id: "a", handler: "h", codec: "json", from: "n", key: "k", time: time.Minute, data: []byte("x")}
	m := want.message("s")
	got, err := parseTask("h", m.Header, m.Data)
	if err != nil || got.id != want.id || got.codec != want.codec || got.from != want.from || got.key != want.key || got.time != want.time || string(got.data) != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzTask(f *testing.F) {
	f.Add("1", "id", "json", "node", "key", "100", []byte("x"))
	f.Fuzz(func(t *testing.T, version, id, codec, from, key, limit string, data []byte) {
		h := nats.Header{headerVersion: {version}, headerID: {id}, headerCodec: {codec}, headerFrom: {from}, headerKey: {key}, headerTime: {limit}}
		got, err := parseTask("h", h, data)
		if err != nil {
			return
		}
		if checkName("ID", got.id) != nil || got.from != "" && checkName("node", got.from) != nil || got.time < 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "a.b", "a b", "a>", "*", "é", strings.Repeat("x", maxName+1)} {
		if err := checkName("name of the handler", name); err == nil || !strings.Contains(err.Error(), "name of the handler") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if checkName("x", "A-z_09") != nil {
		t.Error("a good name is refused")
	}
	for _, c := range [][2]string{{"a", ""}, {"a", "2"}} {
		if name, version := cutVersion(versioned(c[0], c[1])); name != c[0] || version != c[1] {
			t.Error(c, name, version)
		}
	}
}
