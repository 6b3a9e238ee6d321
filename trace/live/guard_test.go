package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/live"
)

// The page works under any prefix, with StripPrefix and without.
func TestThePageWorksUnderAnyPrefix(t *testing.T) {
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
			t.Errorf("httptest.NewRecorder(): %s: %d, %.40q", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/c/nothing", "/c/page", "/c/..", "/c/live.go"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
		if w.Code == 200 {
			t.Errorf("httptest.NewRecorder(): %s: %d, %.40q", path, w.Code, w.Body)
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
func TestAnswersForbidWhatThePageDoesNotNeed(t *testing.T) {
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
				t.Errorf("httptest.NewRecorder(): %s %s: %v", host, path, w.Header())
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost/events", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("httptest.NewRecorder(): %s: %d", method, w.Code)
		}
	}
}

// With a token, there are no events without its cookie, which comes by the token alone.
func TestWithATokenThereAreNoEventsWithoutItsCookie(t *testing.T) {
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
			t.Errorf(`ask("POST", "/x/token", body): %.30q: %d, %v`, body, w.Code, w.Result().Cookies())
		}
	}
	for _, path := range []string{"/x/token?" + form(token), "/x/events?" + form(token)} {
		if w := ask("GET", path, ""); w.Code < 400 || len(w.Result().Cookies()) > 0 {
			t.Errorf(`ask("GET", path, ""): %s: %d, %v`, path, w.Code, w.Result().Cookies())
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
func TestBadArgumentsAreToldByName(t *testing.T) {
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

// omitted are the figures of Stats that the page does not show: what they say can be seen in others, or in the lanes.
var omitted = []string{
	"Active", "Idle", // of Workers, Busy and Searching
	"TakenBack", "Attempts", "Helped", "Waits", "Wakes", // of schedulers, not of programs
	"Submitted", "Started", "Cancelled", "Rejected", "InPlace", "Stalls", "Global", // in Dump
}

// The page keeps each figure of Stats, or omits it by intent.
func TestThePageKnowsEachFigureOfStats(t *testing.T) {
	store, err := os.ReadFile("page/store.js")
	if err != nil {
		t.Fatal(`os.ReadFile("page/store.js"):`, err)
	}
	for list, of := range map[string]reflect.Type{"FIGURES": reflect.TypeFor[filch.Stats](), "OF_TASKS": reflect.TypeFor[filch.TaskStats]()} {
		_, line, _ := strings.Cut(string(store), "const "+list+" = ")
		line, _, _ = strings.Cut(line, ";")
		var shown []string
		if err := json.Unmarshal([]byte(line), &shown); err != nil {
			t.Fatalf("page/store.js: %s: %v", list, err)
		}
		for i := range of.NumField() {
			f := of.Field(i)
			if kind := f.Type.Kind(); kind != reflect.Struct && kind != reflect.Bool && !slices.Contains(shown, f.Name) && !slices.Contains(omitted, f.Name) {
				t.Errorf("%s.%s is neither in %s of page/store.js nor among the omitted", of.Name(), f.Name, list)
			}
		}
		for _, name := range shown {
			if _, ok := of.FieldByName(name); !ok {
				t.Errorf("page/store.js: %s has %s, which is no field of %s", list, name, of.Name())
			}
		}
	}
}
