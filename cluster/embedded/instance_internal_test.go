package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}
func (l *logged) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.text.String() }

// A server that has given up its store is started anew: the connection that it had stores again, and its log says why.
func TestAServerThatGaveUpStartsAnew(t *testing.T) {
	var log logged
	nc, stop, err := Server{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))}.Start(t.Context(), "c", nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer nc.Close()
	i := nc.Opts.InProcessServer.(*instance)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal("jetstream.New:", err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
		t.Fatal("js.CreateStream:", err)
	}
	if _, err := js.Publish(t.Context(), "s", []byte("before")); err != nil {
		t.Fatal("js.Publish:", err)
	}
	i.mu.Lock()
	first := i.srv
	i.mu.Unlock()
	if err := first.ShutdownJetStream(); err != nil { // as it does by itself when it cannot write
		t.Fatal("first.ShutdownJetStream:", err)
	}
	first.WaitForShutdown() // it is ended for the next one
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err = js.Publish(t.Context(), "s", []byte("after")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a message to the server that was started anew:", err)
		}
	}
	s, err := js.Stream(t.Context(), "s")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	if m := s.CachedInfo().State.Msgs; m != 2 {
		t.Errorf("the stream has %d messages, not the one of before and the one of after", m)
	}
	if err := i.Trouble(); err != nil {
		t.Error("Trouble of a server that stores:", err)
	}
	for _, want := range []string{"cannot write, and stores nothing", "the server has ended its JetStream", "was started anew"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &log)
		}
	}
}

// What the server logs is passed on, and the first error of a write is kept as it is.
func TestTheFirstErrorOfAWriteIsKept(t *testing.T) {
	var log logged
	l := newLogger(slog.New(slog.NewTextHandler(&log, nil)))
	full := &os.PathError{Op: "write", Path: "1.blk", Err: errors.New("no space left on device")}
	l.Noticef("a banner")
	l.Errorf("something else: %v", errors.New("else"))
	if err := l.writing(); err != nil {
		t.Error("an error of something else is one of a write:", err)
	}
	l.Errorf("Filestore [s] Critical write error: %v", full)
	l.Errorf("JetStream stream '%s > %s' critical write error: %v", "$G", "s", errors.New("a second"))
	if err := l.writing(); !errors.Is(err, full) {
		t.Errorf("the first error of a write is %v, not %v", err, full)
	}
	if text := log.String(); strings.Contains(text, "a banner") || strings.Count(text, "level=ERROR") != 3 {
		t.Errorf("the log has not the three errors alone:\n%s", text)
	}
}

func TestAFolderWithoutRoomIsSaid(t *testing.T) {
	dir := t.TempDir()
	if err := checkRoom(dir); err != nil {
		t.Error("a folder with room:", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left of the check: %v", left, err)
	}
	if err := checkRoom(dir + "/none"); err == nil {
		t.Error("a folder that cannot be written has room")
	}
}

func TestInProcessConnWhileNoServerRuns(t *testing.T) {
	i := &instance{trouble: fmt.Errorf("no room")}
	if _, err := i.InProcessConn(); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Error("InProcessConn:", err)
	}
}
