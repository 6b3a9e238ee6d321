package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/trace/live"
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
				t.Fatalf("%v: %s", err, data)
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
func (l *pipes) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
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
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
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

// An hour with an open page, a page that reads nothing, and pages that come and go: the messages come at their rate, and
// the server's memory does not grow.
func TestAnHourDoesNotGrow(t *testing.T) {
	length := time.Hour
	if testing.Short() || race.Enabled {
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
func TestSlowPages(t *testing.T) {
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
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
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
		t.Errorf("%d, %.100q", w.Code, w.Body)
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
		t.Fatal(err)
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
				t.Error(err)
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

// The page works under any prefix, with StripPrefix and without.
func TestMounting(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	mux := http.NewServeMux()
	mux.Handle("/debug/filch/", live.Handler(p))
	mux.Handle("/a/b/", http.StripPrefix("/a/b", live.Handler(p)))
	mux.Handle("/c/", http.StripPrefix("/c/", live.Handler(p)))
	for path, want := range map[string]string{
		"/debug/filch/": "<!doctype html>", "/debug/filch/app.js": "import", "/a/b/": "<!doctype html>", "/a/b/store.js": "export",
		"/c/": "<!doctype html>", "/c/app.css": ":root", "/c/uplot.LICENSE.txt": "MIT",
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, %.40q", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/c/nothing", "/c/page", "/c/..", "/c/live.go"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
		if w.Code == 200 {
			t.Errorf("%s: %d, %.40q", path, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/c/app.js", nil))
	r := httptest.NewRequest("GET", "http://localhost/c/app.js", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	if mux.ServeHTTP(again, r); again.Code != http.StatusNotModified {
		t.Errorf("a page that has it gets %d", again.Code)
	}
}

// What a foreign page, or another name of this machine, asks for is refused.
func TestForeignPagesGetNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithName("secret"))
	defer p.Close()
	h := live.New(live.WithPools(p), live.WithHosts("build.example", "10.1.2.3", "[fd00::1]"))
	over, cancel := context.WithCancel(t.Context())
	cancel() // so that a stream ends
	front, parts := []string{"/x/", "/"}, []string{"/x/events", "/x/app.js", "/x/token", "/events?pool=0"}
	tests := []struct {
		host    string
		headers string
		ok      bool
		paths   []string
	}{
		{"localhost:6060", "", true, front},
		{"LOCALHOST", "", true, front},
		{"pool.localhost", "", true, front},
		{"127.0.0.1:80", "", true, front},
		{"127.8.8.8", "", true, front},
		{"[::1]:6060", "", true, front},
		{"[::ffff:127.0.0.1]", "", true, front},
		{"build.example:443", "", true, front},
		{"10.1.2.3", "", true, front},
		{"[fd00::1]:80", "", true, front},
		{"10.1.2.4", "", false, append(parts, front...)},
		{"evil.example", "", false, append(parts, front...)},
		{"localhost.evil.example", "", false, append(parts, front...)},
		{"127.0.0.1.evil.example", "", false, append(parts, front...)},
		{"build.example.evil.example", "", false, append(parts, front...)},
		{"", "", false, append(parts, front...)},
		{"localhost:6060", "Origin: http://localhost:6060", true, front},
		{"localhost:6060", "Origin: https://localhost:6060", true, front},
		{"localhost:6060", "Origin: http://localhost:8080", false, append(parts, front...)},
		{"localhost:6060", "Origin: http://evil.example", false, append(parts, front...)},
		{"localhost:6060", "Origin: null", false, append(parts, front...)},
		{"localhost:6060", "Origin: ", false, append(parts, front...)},
		{"localhost:6060", "Origin: file://localhost:6060", false, append(parts, front...)},
		{"127.0.0.1:6060", "Origin: http://build.example:8080", true, front}, // a proxy that sends a Host of its own
		{"127.0.0.1:6060", "Origin: https://[fd00::1]", true, front},
		{"127.0.0.1:6060", "Origin: https://front.example|Sec-Fetch-Site: same-origin", true, front},
		{"127.0.0.1:6060", "Origin: http://build.example|Sec-Fetch-Site: same-site", false, append(parts, front...)},
		{"127.0.0.1:6060", "Origin: http://front.example", false, append(parts, front...)},
		{"127.0.0.1:6060", "Origin: http://front.example|Sec-Fetch-Site: none", false, append(parts, front...)},
		{"127.0.0.1:6060", "Origin: ftp://build.example", false, append(parts, front...)},
		{"evil.example", "Origin: https://evil.example|Sec-Fetch-Site: same-origin", false, append(parts, front...)},
		{"localhost:6060", "Sec-Fetch-Site: cross-site", false, append(parts, front...)},
		{"localhost:6060", "Sec-Fetch-Site: same-site", false, append(parts, front...)},
		{"localhost:6060", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: script", false, append(parts, front...)},
		{"localhost:6060", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe", false, append(parts, front...)},
		{"localhost:6060", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", true, front}, // a link
		{"localhost:6060", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", false, parts},
		{"localhost:6060", "Sec-Fetch-Site: same-origin", true, front},
		{"localhost:6060", "Sec-Fetch-Site: none", true, front},
	}
	for _, test := range tests {
		for _, path := range test.paths {
			r := httptest.NewRequestWithContext(over, "GET", "http://x"+path, nil)
			r.Host = test.host
			for header := range strings.SplitSeq(test.headers, "|") {
				if name, value, ok := strings.Cut(header, ": "); ok {
					r.Header[name] = []string{value}
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if ok := w.Code == 200; ok != test.ok || !ok && (w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "secret")) {
				t.Errorf("host %q, %q, %s: %d, %.60q", test.host, test.headers, path, w.Code, w.Body)
			}
		}
	}
}

// All answers forbid browsers what the page does not need.
func TestHeaders(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	h := live.New(live.WithPools(p), live.WithToken("0123456789abcdef"))
	for _, path := range []string{"/", "/app.js", "/events", "/nothing", "/token"} {
		for _, host := range []string{"localhost", "evil.example"} {
			r := httptest.NewRequest("GET", "http://x"+path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			policy := w.Header().Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s %s: no %s in %q", host, path, part, policy)
				}
			}
			if strings.Contains(policy, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" ||
				w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" || len(w.Header()["Access-Control-Allow-Origin"]) > 0 {
				t.Errorf("%s %s: %v", host, path, w.Header())
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost/events", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// With a token, there are no events without its cookie, which comes by the token alone.
func TestToken(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const token = "it is Tuesday today"
	h := http.StripPrefix("/x", live.New(live.WithPools(p), live.WithToken(token)))
	ask := func(method, path, body string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask("GET", "/x/", ""); w.Code != 200 {
		t.Errorf("the form itself: %d", w.Code)
	}
	form := func(token string) string { return url.Values{"token": {token}}.Encode() }
	for _, body := range []string{"", form(""), form(token[:18]), form(token + " "), form("It is Tuesday today"), "token=%zz", strings.Repeat("a", 1<<20) + "&" + form(token)} {
		if w := ask("POST", "/x/token", body); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
			t.Errorf("%.30q: %d, %v", body, w.Code, w.Result().Cookies())
		}
	}
	for _, path := range []string{"/x/token?" + form(token), "/x/events?" + form(token)} {
		if w := ask("GET", path, ""); w.Code < 400 || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d, %v", path, w.Code, w.Result().Cookies())
		}
	}
	w := ask("POST", "/x/token", form(token))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusNoContent || len(cookies) != 1 {
		t.Fatalf("the token: %d, %v", w.Code, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "" || c.Domain != "" || strings.Contains(w.Header().Get("Set-Cookie"), "Tuesday") {
		t.Errorf("the cookie is %s", w.Header().Get("Set-Cookie"))
	}
	if w := ask("HEAD", "/x/events", "", c); w.Code != 200 {
		t.Errorf("with the cookie: %d", w.Code)
	}
	wrong := *c
	wrong.Value = strings.Repeat("0", len(c.Value))
	if w := ask("HEAD", "/x/events", "", &wrong); w.Code != http.StatusUnauthorized {
		t.Errorf("with a wrong cookie: %d", w.Code)
	}
	other := live.New(live.WithPools(p), live.WithToken("another long token"))
	r := httptest.NewRequest("HEAD", "http://localhost/events", nil)
	r.AddCookie(c)
	o := httptest.NewRecorder()
	if other.ServeHTTP(o, r); o.Code != http.StatusUnauthorized {
		t.Errorf("with the cookie of another token: %d", o.Code)
	}
	if w := ask("HEAD", "/x/events", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("without a cookie: %d", w.Code)
	}
}

// Bad arguments are told by name.
func TestBadArguments(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for want, f := range map[string]func(){
		"live: New: there is no pool":                  func() { live.Handler() },
		"live: New: pool 1 is nil":                     func() { live.Handler(p, nil) },
		"live: New: pool 0 is one that":                func() { live.Handler(&filch.Pool{}) },
		"live: New: pool 1 is there twice":             func() { live.Handler(p, p) },
		"live: New: option 1 is nil":                   func() { live.New(live.WithPools(p), nil) },
		"live: WithRate(0): n must be from 1 to 30":    func() { live.WithRate(0) },
		"live: WithRate(31)":                           func() { live.WithRate(31) },
		"live: WithEvents(99)":                         func() { live.WithEvents(99) },
		"live: WithEvents(100001)":                     func() { live.WithEvents(100_001) },
		"live: WithToken: the token has 3 bytes":       func() { live.WithToken("abc") },
		`live: WithHosts(""): a host is`:               func() { live.WithHosts("") },
		`live: WithHosts("a.example:80"): a host is`:   func() { live.WithHosts("a.example:80") },
		`live: WithHosts("http://a"): a host is`:       func() { live.WithHosts("http://a") },
		`live: WithHosts("*.example"): a host is a na`: func() { live.WithHosts("*.example") },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, want) {
					t.Errorf("%q, not %q", text, want)
				}
			}()
			f()
		}()
	}
}
