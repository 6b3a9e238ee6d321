package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// A part is what the tests look at of a message.
type part struct {
	T, Workers, Read, Lost int64
	Spans, Open, Arrows    []int64
	Queues, Gaps           []int64
	Names                  []string
	Stats                  filch.Stats
}

// stream reads server-sent events.
type stream struct {
	lines *bufio.Scanner
	body  io.Closer
}

func newStream(body io.ReadCloser) *stream {
	s := &stream{bufio.NewScanner(body), body}
	s.lines.Buffer(nil, 4<<20)
	return s
}

// next returns the next event, or "" at the end.
func (s *stream) next() (name, data string) {
	for s.lines.Scan() {
		line := s.lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && name != "":
			return name, data
		}
	}
	return "", ""
}

// part returns the next part.
func (s *stream) part(t *testing.T) (p part) {
	t.Helper()
	for {
		name, data := s.next()
		switch name {
		case "":
			t.Fatal("the stream has ended")
		case "part":
			if err := json.Unmarshal([]byte(data), &p); err != nil {
				t.Fatalf("json.Unmarshal([]byte(data), &p): %v: %s", err, data)
			}
			return p
		}
	}
}

// pipes is a server's listener in a bubble: a connection is a net.Pipe.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.conns <- server
	return client, nil
}

// serve serves h in a bubble until the test ends, and returns a client of it.
func serve(t *testing.T, h http.Handler) *http.Client {
	return serveBy(t, &http.Server{Handler: h})
}

func serveBy(t *testing.T, s *http.Server) *http.Client {
	l := newPipes()
	go s.Serve(l)
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
		time.Sleep(6 * time.Second) // until the recordings have ended
	})
	return &http.Client{Transport: transport}
}

func open(t *testing.T, client *http.Client) *stream {
	t.Helper()
	answer, err := client.Get("http://localhost/debug/filch/events")
	if err != nil {
		t.Fatal("client.Get(…):", err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatal("client.Get(…):", answer.Status)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return newStream(answer.Body)
}

// work runs ten tasks every two seconds, which take 5 ms, until stop is called. Workers spin, in real time, before they
// rest: more of them would take long.
func work(p *filch.Pool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for range 10 {
				p.Go(ctx, func(context.Context) { time.Sleep(5 * time.Millisecond) }, filch.Named("five"))
			}
			time.Sleep(2 * time.Second)
		}
	}()
	return func() { cancel(); <-done }
}
