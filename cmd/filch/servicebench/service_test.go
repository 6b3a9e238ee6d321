package servicebench

import (
	"bytes"
	"context"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// All ways to serve answer all requests with the same picture, and the load sees each answer.
func TestAllWaysAnswer(t *testing.T) {
	used := time.Duration(0)
	server := httptest.NewServer(newHandler(2, func() time.Duration { used += time.Second; return used }))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, name := range Names() {
		l := Load{Rate: 400, Lasts: 100 * time.Millisecond, Timeout: time.Minute, Seed: 1}
		r, err := l.Run(context.Background(), address, name)
		if err != nil || r.Sent < 10 || len(r.Urgent)+len(r.Others) != r.Sent || len(r.Urgent) == 0 || r.CPU != time.Second || r.Took <= 0 {
			t.Errorf("%s: %d of %d are answered, %d of them urgent; %v used in %v; %v", name, len(r.Urgent)+len(r.Others), r.Sent, len(r.Urgent), r.CPU, r.Took, err)
		}
	}
	for path, status := range map[string]int{"/0?client=8": http.StatusBadRequest, "/5": http.StatusBadRequest, "/7?client=0": http.StatusNotFound, "/5?client=0": http.StatusOK} {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal("http.Get(server.URL + path):", err)
		}
		if answer.Body.Close(); answer.StatusCode != status {
			t.Errorf("%s: %d, not %d", path, answer.StatusCode, status)
		}
	}
}

// Whoever leaves is not counted, and is no error.
func TestClientsThatLeaveAreNotAnswered(t *testing.T) {
	server := httptest.NewServer(newHandler(1, func() time.Duration { return 0 }))
	defer server.Close()
	l := Load{Rate: 1000, Lasts: 50 * time.Millisecond, Timeout: time.Microsecond, Seed: 1}
	for _, name := range Names() {
		r, err := l.Run(context.Background(), strings.TrimPrefix(server.URL, "http://"), name)
		if err != nil || len(r.Urgent)+len(r.Others) != 0 {
			t.Errorf("%s: %d answers; %v", name, len(r.Urgent)+len(r.Others), err)
		}
	}
}

func TestALoadTellsWhatIsWrong(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(server.URL, "http://")
	l := Load{Rate: 1000, Lasts: time.Millisecond, Timeout: time.Minute}
	if _, err := l.Run(context.Background(), address, "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Error("a way that is not there:", err)
	}
	if _, err := l.Run(context.Background(), address, "filch"); err == nil {
		t.Error("a server that is none of ours: no error")
	}
	server.Close()
	if _, err := l.Run(context.Background(), address, "filch"); err == nil {
		t.Error("no server: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Run(ctx, address, "filch"); err == nil {
		t.Error("a context that has ended: no error")
	}
}

// The thumbnail is the same with and without loops of par.
func TestThumbnails(t *testing.T) {
	p := newPhoto(64, 32)
	one, err := p.thumbnail(nil)
	if err != nil {
		t.Fatal("p.thumbnail(nil):", err)
	}
	if both, err := p.thumbnail(filch.Default()); err != nil || !bytes.Equal(one, both) {
		t.Error("another picture with par:", err)
	}
	if c, err := jpeg.DecodeConfig(bytes.NewReader(one)); err != nil || c.Width != 16 || c.Height != 8 {
		t.Error("jpeg.DecodeConfig(bytes.NewReader(one)):", c, err)
	}
	if Cost() <= 0 {
		t.Error("a thumbnail costs nothing")
	}
}

// The service tells its address, and ends with its input.
func TestServeEndsWithItsInput(t *testing.T) {
	in, end := io.Pipe()
	out, address := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(in, address, 1, func() time.Duration { return 0 }) }()
	text := make([]byte, 64)
	n, err := out.Read(text)
	if err != nil || !strings.HasPrefix(string(text[:n]), "127.0.0.1:") {
		t.Errorf("%q: %v", text[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	_ = end.Close()
	if err := <-ended; err != nil {
		t.Error("Serve(…):", err)
	}
}
