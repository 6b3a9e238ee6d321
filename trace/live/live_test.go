package live_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace/live"
)

// An hour with an open page, a page that reads nothing, and pages that come and go: the messages come at their rate, and
// the server's memory does not grow.
func TestAnHourDoesNotGrow(t *testing.T) {
	length := time.Hour
	if thorough.Sampled() || race.Enabled {
		length = 5 * time.Minute
	}
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4))
		defer p.Close()
		defer work(p)()
		client := serve(t, live.Handler(p))
		page := open(t, client)

		began, messages := time.Now(), 0
		for time.Since(began) < time.Minute {
			page.part(t)
		}
		before := heap()
		began = time.Now()
		for time.Since(began) < length {
			page.part(t)
			if messages++; messages%500 == 1 { // it reads for a moment, and then nothing until it is dropped
				other := open(t, client)
				other.part(t)
				if messages%1000 == 1 {
					other.body.Close()
				}
			}
		}
		if most := int(length / (200 * time.Millisecond)); messages > most+1 || messages < most*9/10 {
			t.Errorf("%d messages in %v", messages, length)
		}
		if after := heap(); after > before+1<<20 {
			t.Errorf("the heap has grown from %d to %d bytes", before, after)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Each task is in one message, with its name, its begin and how long it ran.
func TestSpansAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithName("kitchen"))
		defer p.Close()
		client := serve(t, live.Handler(p))
		page := open(t, client)
		if name, data := page.next(); name != "hello" || !strings.Contains(data, `"kitchen, 2 workers"`) {
			t.Errorf("first comes %s %s", name, data)
		}
		page.part(t)
		const n = 100
		for range n {
			p.Go(t.Context(), func(context.Context) { time.Sleep(30 * time.Millisecond) }, filch.Named("dice"))
		}
		told, open := 0, 0
		for range 20 {
			m := page.part(t)
			for s := m.Spans; len(s) > 0; s = s[7:] {
				if m.Names[s[4]] == "dice" {
					if told++; s[3] != int64(30*time.Millisecond) || s[1] < 0 || s[1] > 1 {
						t.Errorf("on worker %d it took %v", s[1], time.Duration(s[3]))
					}
				}
			}
			for s := m.Open; len(s) > 0; s = s[5:] {
				if m.Names[s[3]] == "dice" {
					open++
				}
			}
		}
		if told != n || open == 0 {
			t.Errorf("%d of %d tasks were told of, %d as running", told, n, open)
		}
	})
}

// The recording begins with the first page, and ends some seconds after the last.
func TestRecordingIsOnForPagesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		client := serve(t, live.Handler(p))
		if live.IsRecorded(p) {
			t.Error("it is recorded without a page")
		}
		for range 2 {
			page := open(t, client)
			page.part(t)
			if !live.IsRecorded(p) {
				t.Error("it is not recorded")
			}
			page.body.Close()
			time.Sleep(4 * time.Second)
			if !live.IsRecorded(p) {
				t.Error("a page that comes back finds no recording")
			}
			time.Sleep(3 * time.Second)
			if live.IsRecorded(p) {
				t.Error("it is recorded for nobody")
			}
		}
	})
}

// A page that reads slowly is told how many messages it has missed. One that reads nothing is let go.
func TestASlowPageIsToldWhatItHasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		defer work(p)()
		client := serve(t, live.Handler(p))
		page := open(t, client)
		page.part(t)
		time.Sleep(5 * time.Second)
		missed := ""
		for range 20 {
			if name, data := page.next(); name == "missed" {
				missed = data
			}
		}
		if missed == "" || missed == "0" {
			t.Errorf("in five seconds it has missed %q messages", missed)
		}
		time.Sleep(time.Minute)
		for range 20 {
			if name, _ := page.next(); name == "" {
				return
			}
		}
		t.Error("a page that reads nothing for a minute is kept")
	})
}

// A page stays open on a server whose requests and answers must not take long.
func TestTimeoutsOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		s := &http.Server{Handler: live.Handler(p), ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: time.Second}
		page := open(t, serveBy(t, s))
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			if name, _ := page.next(); name == "" {
				t.Fatalf("the stream has ended after %v", time.Since(begin))
			}
		}
	})
}

// A server that shuts down does not wait for pages, and neither does the next one of the same handler.
func TestShutdownOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		h := live.Handler(p)
		for range 2 {
			s := &http.Server{Handler: h}
			client := serveBy(t, s)
			var pages sync.WaitGroup
			for range 2 {
				page := open(t, client)
				page.part(t)
				pages.Go(func() {
					for name := "part"; name != ""; name, _ = page.next() {
					}
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := errors.Join(s.Shutdown(ctx), s.Shutdown(ctx)); err != nil {
				t.Errorf("with two pages: %v", err)
				s.Close()
			}
			cancel()
			pages.Wait()
		}
	})
}

// A writer without Flush cannot stream, and says so.
func TestWritersWithoutFlush(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	w := httptest.NewRecorder()
	live.Handler(p).ServeHTTP(struct{ http.ResponseWriter }{w}, httptest.NewRequest("GET", "http://localhost/events", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "live: the ResponseWriter cannot flush") {
		t.Errorf("httptest.NewRecorder(): %d, %.100q", w.Code, w.Body)
	}
}

// No more pages than 16 are served, and those that go make room.
func TestPagesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		client := serve(t, live.Handler(p))
		var pages []*stream
		for range 16 {
			pages = append(pages, open(t, client))
		}
		answer, err := client.Get("http://localhost/events")
		if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
			t.Errorf("the seventeenth: %v, %v", answer, err)
		}
		answer.Body.Close()
		for _, page := range pages {
			page.body.Close()
		}
		time.Sleep(time.Second)
		open(t, client).body.Close()
	})
}

// More events than a message has room for are counted, and the message is bounded.
func TestWhatIsLeftOutIsCounted(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	s := httptest.NewServer(live.New(live.WithPools(p), live.WithEvents(100), live.WithRate(30)))
	defer s.Close()
	answer, err := http.Get(s.URL + "/events")
	if err != nil {
		t.Fatal(`http.Get(s.URL + "/events"):`, err)
	}
	page := newStream(answer.Body)
	defer answer.Body.Close()
	page.part(t)
	var lost int64
	for range 100 {
		g := p.Group(t.Context())
		for range 1000 {
			g.Go(func(context.Context) error { return nil })
		}
		g.Wait()
		m := page.part(t)
		if lost += m.Lost; m.Read > 1000 || len(m.Spans) > 7*1000 {
			t.Fatalf("a message of %d events, with %d spans", m.Read, len(m.Spans)/7)
		}
		if lost > 0 {
			return
		}
	}
	t.Error("100 messages have room for 100,000 tasks")
}

// Pages are open while workers steal, publish and block. It is for the race detector.
func TestPagesUnderLoad(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	s := httptest.NewServer(live.New(live.WithPools(p), live.WithRate(30)))
	defer s.Close()
	defer load(p)()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			answer, err := http.Get(s.URL + "/events")
			if err != nil {
				t.Error(`http.Get(s.URL + "/events"):`, err)
				return
			}
			defer answer.Body.Close()
			page := newStream(answer.Body)
			for range 10 {
				page.part(t)
			}
		})
	}
	all.Wait()
}
