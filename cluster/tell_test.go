package cluster

import (
	"bytes"
	"testing"
)

func TestToldOutcomesAreReadAsTheyWereWritten(t *testing.T) {
	var m []byte
	want := [][2]string{{"a", "first\n\x00"}, {"b", ""}, {"c", string(bytes.Repeat([]byte("x"), 300))}}
	for _, w := range want {
		m = appendTold(m, w[0], []byte(w[1]))
	}
	for _, w := range want {
		id, data, rest, err := cutTold(m)
		if err != nil || string(id) != w[0] || string(data) != w[1] {
			t.Fatalf("%q: %q %q %v", w, id, data, err)
		}
		m = rest
	}
	if len(m) != 0 {
		t.Errorf("%d bytes are left", len(m))
	}
}

func FuzzToldOutcomes(f *testing.F) {
	f.Add(appendTold(nil, "a", []byte("b")))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, m []byte) {
		for len(m) > 0 {
			_, _, rest, err := cutTold(m)
			if err != nil {
				return
			}
			if len(rest) >= len(m) {
				t.Fatal("nothing was cut")
			}
			m = rest
		}
	})
}
