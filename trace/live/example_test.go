package live_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/live"
)

// The page stands beside net/http/pprof in the program's own server.
func ExampleHandler() {
	pool := filch.New(filch.WithName("kitchen"))
	defer pool.Close()

	mux := http.NewServeMux()
	mux.Handle("/debug/filch/", live.Handler(pool))

	server := httptest.NewServer(mux) // else http.ListenAndServe("localhost:6060", mux)
	defer server.Close()
	answer, err := http.Get(server.URL + "/debug/filch/")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, strings.Contains(string(page), "<title>filch</title>"))
	// Output: 200 OK true
}

// Two pools on a page that may be asked for by the name of this machine, with a token.
func ExampleNew() {
	kitchen, bar := filch.New(), filch.New()
	defer kitchen.Close()
	defer bar.Close()

	handler := live.New(
		live.WithPools(kitchen, bar),
		live.WithHosts("build.example"),
		live.WithToken("a token of 16 bytes or more"), // better one of crypto/rand.Text
		live.WithRate(2),
		live.WithEvents(1000),
	)
	ask := func(host, path string) int {
		r := httptest.NewRequest("GET", "http://"+host+path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	fmt.Println("the page, with a form for the token:", ask("build.example", "/"))
	fmt.Println("what the pools do, without the token:", ask("build.example", "/events"))
	fmt.Println("by another name:", ask("evil.example", "/"))
	// Output:
	// the page, with a form for the token: 200
	// what the pools do, without the token: 401
	// by another name: 403
}

func ExampleOption() {
	pool := filch.New()
	defer pool.Close()
	opts := []live.Option{live.WithPools(pool), live.WithHosts("build.example.com")}
	w := httptest.NewRecorder()
	live.New(opts...).ServeHTTP(w, httptest.NewRequest("GET", "http://build.example.com/", nil))
	fmt.Println(w.Code)
	// Output: 200
}

func ExampleWithPools() {
	kitchen, bar := filch.New(), filch.New()
	defer kitchen.Close()
	defer bar.Close()
	handler := live.New(live.WithPools(kitchen, bar)) // the page has a list to choose from
	for _, path := range []string{"/events?pool=0", "/events?pool=1", "/events?pool=2"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("HEAD", "http://localhost"+path, nil))
		fmt.Println(path, w.Code)
	}
	// Output:
	// /events?pool=0 200
	// /events?pool=1 200
	// /events?pool=2 404
}

func ExampleWithHosts() {
	pool := filch.New()
	defer pool.Close()
	handler := live.New(live.WithPools(pool), live.WithHosts("build.example", "10.1.2.3"))
	for _, host := range []string{"localhost:6060", "build.example:6060", "10.1.2.4:6060"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "http://"+host+"/", nil))
		fmt.Println(host, w.Code)
	}
	// Output:
	// localhost:6060 200
	// build.example:6060 200
	// 10.1.2.4:6060 403
}

func ExampleWithToken() {
	pool := filch.New()
	defer pool.Close()
	handler := live.New(live.WithPools(pool), live.WithToken("an example of a token"))
	r := httptest.NewRequest("POST", "http://localhost/token", strings.NewReader("token=an+example+of+a+token"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	cookie := w.Result().Cookies()[0]
	fmt.Println(cookie.HttpOnly, cookie.SameSite == http.SameSiteStrictMode)
	// Output: true true
}

func ExampleWithRate() {
	pool := filch.New()
	defer pool.Close()
	handler := live.New(live.WithPools(pool), live.WithRate(1)) // a message a second, for a slow line
	fmt.Println(handler != nil)
	// Output: true
}

func ExampleWithEvents() {
	pool := filch.New()
	defer pool.Close()
	handler := live.New(live.WithPools(pool), live.WithEvents(20_000)) // more of a busy pool is seen
	fmt.Println(handler != nil)
	// Output: true
}
