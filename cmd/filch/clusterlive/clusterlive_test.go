package clusterlive_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cmd/filch/clusterlive"
)

// open opens a page for some time, and returns the events that it got.
func open(h http.Handler, length time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/events", nil))
	return w.Body.String()
}

// asked counts questions, each of which takes some time, and how close together they were.
type asked struct {
	takes time.Duration

	mu    sync.Mutex
	times int           // under mu, as what follows
	last  time.Time     // when the last began
	least time.Duration // between two
}

func (a *asked) so() (times int, least time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.times, a.least
}

func (a *asked) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if a.times > 0 {
		a.least = min(a.least, now.Sub(a.last))
	}
	a.times, a.last = a.times+1, now
}

func (a *asked) ask(ctx context.Context) (clusterlive.View, error) {
	a.note()
	select {
	case <-time.After(a.takes):
		return clusterlive.View{Nodes: []cluster.NodeInfo{{Name: "a"}}}, nil
	case <-ctx.Done():
		return clusterlive.View{}, ctx.Err()
	}
}

// The cluster is asked once a second at most, whatever number of pages is open, comes and goes, and however long an
// answer takes; and not while no page is open.
func TestTheClusterIsAskedOnceASecond(t *testing.T) {
	for takes, most := range map[time.Duration]int{0: 60, 300 * time.Millisecond: 46, 2500 * time.Millisecond: 18} {
		synctest.Test(t, func(t *testing.T) {
			a := &asked{takes: takes, least: time.Hour}
			h := clusterlive.Handler(t.Context(), "filch", 10*time.Second, a.ask)
			for i := range 10 {
				go open(h, time.Minute)
				go func() { // one that is opened again and again
					for range 30 {
						open(h, time.Duration(1+i)*100*time.Millisecond)
					}
				}()
			}
			time.Sleep(time.Minute)
			times, least := a.so()
			if least < time.Second || times > most || times < most*9/10 {
				t.Errorf("of %v each: %d questions, %v apart", takes, times, least)
			}
			time.Sleep(10 * time.Second)
			before, _ := a.so()
			time.Sleep(time.Hour)
			if times, _ := a.so(); times > before {
				t.Errorf("%d questions while no page is open", times-before)
			}
		})
	}
}

// A page is told the cluster's name, and each second what there is, or why that is not known.
func TestPagesAreTold(t *testing.T) {
	tell := func(timeout time.Duration, ask func(context.Context) (clusterlive.View, error)) (events []string) {
		synctest.Test(t, func(t *testing.T) {
			h := clusterlive.Handler(t.Context(), "kitchen", timeout, ask)
			events = strings.Split(open(h, timeout+1500*time.Millisecond), "\n\n")
			time.Sleep(10 * time.Second) // until no more is asked
		})
		if len(events) < 2 || !strings.HasSuffix(events[0], "event: hello\ndata: \"kitchen\"") {
			t.Fatalf("%q", events)
		}
		return events[1:]
	}
	view := clusterlive.View{Nodes: []cluster.NodeInfo{{Name: "a", From: map[string]int64{"<b>\n\n": 3}}}, Queues: []cluster.Queue{{Handler: "h"}}, Dead: map[string]int{"h": 2}}
	got := tell(0, func(context.Context) (clusterlive.View, error) { return view, nil })[0]
	for _, want := range []string{"event: view\ndata: {\"wall\":", `"name":"a"`, `"from":{"\u003cb\u003e\n\n":3}`, `"handler":"h"`, `"dead":{"h":2}`} {
		if !strings.Contains(got, want) || strings.Contains(got, "error") {
			t.Errorf("no %s in %s", want, got)
		}
	}
	got = tell(time.Second, func(context.Context) (clusterlive.View, error) { return view, errors.New("no servers") })[0]
	if !strings.Contains(got, `"error":"no servers"`) || strings.Contains(got, "nodes") {
		t.Error(got)
	}
	got = tell(3*time.Second, func(ctx context.Context) (clusterlive.View, error) { <-ctx.Done(); return view, ctx.Err() })[0]
	if !strings.Contains(got, `"error":"the servers have not answered for 3s"`) {
		t.Error(got)
	}
}

// Names that lead here by a name server, and pages of other sites, are refused.
func TestThePageIsForThisMachine(t *testing.T) {
	h := clusterlive.Handler(t.Context(), "filch", time.Second, func(context.Context) (clusterlive.View, error) { return clusterlive.View{}, nil })
	for _, c := range []struct {
		method, host, origin, path string
		status                     int
	}{
		{"GET", "localhost:80", "", "/", 200}, {"GET", "127.0.0.1", "", "/app.js", 200}, {"GET", "[::1]:80", "", "/heat.js", 200}, {"HEAD", "localhost", "", "/events", 200},
		{"HEAD", "evil.example", "", "/events", 403}, {"GET", "127.0.0.1.evil.example:80", "", "/", 403}, {"GET", "10.0.0.1", "", "/", 403},
		{"HEAD", "localhost", "http://evil.example", "/events", 403}, {"POST", "localhost", "", "/events", 405}, {"GET", "localhost", "", "/other", 404},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.status || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%v: %d, %s", c, w.Code, w.Body)
		}
		if w.Code == 403 && !strings.Contains(w.Body.String(), "this page is for this machine alone") {
			t.Error(w.Body)
		}
	}
}
