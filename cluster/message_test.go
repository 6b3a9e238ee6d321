package cluster

import (
	"strings"
	"testing"
	"time"
)

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	want := task{id: "a", handler: "h", codec: "json", from: "n", key: "k", time: time.Minute, data: []byte("x")}
	m := want.message("s")
	got, err := parseTask("h", m.Header, m.Data)
	if err != nil || got.id != want.id || got.codec != want.codec || got.from != want.from || got.key != want.key || got.time != want.time || string(got.data) != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNamesAreCheckedAndVersionsCutOff(t *testing.T) {
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
