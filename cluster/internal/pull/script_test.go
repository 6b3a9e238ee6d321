package pull_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster/internal/pull"
)

// script is a server to one client. It says what the test has it say, and nothing by itself but what a connection needs.
type script struct {
	requests chan request
	leaving  func() // called before the end of the subscription is confirmed, if it is not nil

	mu   sync.Mutex
	conn net.Conn    // the last one
	out  chan string // what it says there
	sid  string      // of the subscription
}

// request is one for messages.
type request struct{ subject, address, body string }

// InProcessConn begins to serve a connection.
func (s *script) InProcessConn() (net.Conn, error) {
	client, own := net.Pipe()
	out := make(chan string, 100)
	s.mu.Lock()
	s.conn, s.out = own, out
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { // apart: the client may not hear until it was heard
		for {
			select {
			case text := <-out:
				_, _ = io.WriteString(own, text)
			case <-done:
				return
			}
		}
	}()
	go func() {
		defer close(done)
		s.serve(own, out)
	}()
	return client, nil
}

// serve hears the client until the connection ends.
func (s *script) serve(conn net.Conn, out chan<- string) {
	out <- `INFO {"server_id":"script","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576}` + "\r\n"
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch words := strings.Fields(line); words[0] {
		case "PING":
			out <- "PONG\r\n"
		case "SUB":
			s.mu.Lock()
			s.sid = words[2]
			s.mu.Unlock()
		case "UNSUB":
			if s.leaving != nil {
				s.leaving()
			}
		case "PUB":
			size, _ := strconv.Atoi(words[len(words)-1])
			body := make([]byte, size+len("\r\n"))
			if _, err := io.ReadFull(r, body); err != nil {
				return
			}
			s.requests <- request{words[1], words[2], string(body[:size])}
		}
	}
}

// say sends the subscription a message, with headers or without.
func (s *script) say(subject, headers, body string) {
	s.mu.Lock()
	out, sid := s.out, s.sid
	s.mu.Unlock()
	if headers == "" {
		out <- fmt.Sprintf("MSG %s %s %d\r\n%s\r\n", subject, sid, len(body), body)
		return
	}
	headers += "\r\n\r\n"
	out <- fmt.Sprintf("HMSG %s %s %d %d\r\n%s%s\r\n", subject, sid, len(headers), len(headers)+len(body), headers, body)
}

// task gives the subscription a task.
func (s *script) task(name string) { s.say("filch.work.job.p1", "", name) }

// status says something of a request.
func (s *script) status(r request, text string) { s.say(r.address, "NATS/1.0 "+text, "") }

// cut ends the connection. The client makes another.
func (s *script) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn.Close()
}

// asking is a puller at a script, and what it has passed on.
type asking struct {
	*script
	*pull.Puller
	nc    *nats.Conn
	tasks []string
	again chan struct{}
	back  chan struct{} // the connection was replaced, and the puller was told so
}

// newAsking returns a puller that can be in a bubble, if its connection is not replaced, and it is not closed: then the
// library flushes, with a timer that it keeps for all connections.
func newAsking(t *testing.T) *asking {
	t.Helper()
	a := &asking{script: &script{requests: make(chan request, 1)}, again: make(chan struct{}, 1), back: make(chan struct{}, 1)}
	var err error
	if a.nc, err = nats.Connect("", nats.InProcessServer(a.script), nats.ReconnectWait(time.Millisecond), nats.ReconnectJitter(0, 0), nats.MaxReconnects(-1),
		nats.ReconnectHandler(func(*nats.Conn) { a.back <- struct{}{} })); err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(a.nc.Close)
	if a.Puller, err = pull.New(a.nc, "work", "job", pull.Request{Group: pull.Group, Priority: 3}, 8); err != nil {
		t.Fatal("pull.New:", err)
	}
	a.Again = a.again
	return a
}

// replaced waits until the connection was replaced.
func (a *asking) replaced(t *testing.T) {
	t.Helper()
	select {
	case <-a.back:
	case <-time.After(10 * time.Second):
		t.Fatal("there is no other connection")
	}
}

func (a *asking) each(m *nats.Msg) { a.tasks = append(a.tasks, string(m.Data)) }

// end is how a call of Pull has ended.
type end struct {
	got int
	err error
}

// hour is for how long requests wait that something else is to end.
const hour = time.Hour

// patience is for how long calls of Pull wait for what is to end them.
const patience = 10 * time.Second

// begin calls Pull for one task, and returns the request of which the script has heard.
func (a *asking) begin(t *testing.T) (request, <-chan end) {
	return a.ask(t, func(ctx context.Context) (int, error) { return a.Pull(ctx, 1, hour, a.each) })
}

// ask calls pull, and returns the request of which the script has heard.
func (a *asking) ask(t *testing.T, pull func(context.Context) (int, error)) (request, <-chan end) {
	ended := make(chan end, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := pull(ctx)
		ended <- end{got, err}
	}()
	select {
	case r := <-a.requests:
		return r, ended
	case <-time.After(patience):
		t.Fatal("there is no request")
		return request{}, nil
	}
}

// finish gives a task to a call of Pull, which has to end by it.
func (a *asking) finish(t *testing.T, ended <-chan end) {
	t.Helper()
	a.task("task")
	if e := <-ended; e != (end{1, nil}) {
		t.Errorf("%+v", e)
	}
	if got := strings.Join(a.tasks, " "); got != "task" {
		t.Error("passed on:", got)
	}
	a.tasks = nil
}

// pullSaid calls Pull, with something that is said of its request.
func (a *asking) pullSaid(ctx context.Context, said func(request)) end {
	go func() { said(<-a.requests) }()
	got, err := a.Pull(ctx, 2, hour, a.each)
	return end{got, err}
}
