// Package live is a web page that shows what the workers of pools are doing. It is an http.Handler for a server that
// the program already has:
//
//	http.Handle("/debug/filch/", live.Handler(pool))
//
// The page begins with a verdict: what is the matter with the pool, and why. It needs no network and loads nothing
// from elsewhere. It shows each worker as a lane in time, with the tasks, calls and published forks that it runs,
// and arrows for steals; who steals from whom; queues, throughput, and percentiles of run times by name; and a
// table of what is running now: since when, where its code is, and what waits for what.
//
// While no page is open, the pool records nothing and pays nothing. An open page records the pool as package trace
// does. Some times a second the handler reads the latest events and sends them; events that do not fit into a message
// are left out and counted. A page that reads slowly misses messages, and no worker waits for it. Recording ends some
// seconds after the last page has gone.
//
// A page shows names of tasks and functions, so only this machine can open it, unless [WithHosts] allows more. With
// [WithToken] nobody can without the token; see [New].
package live

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/guard"
	"github.com/filch-go/filch/internal/page"
)

//go:embed page
var embedded embed.FS

// A handler holds the options of New.
type handler struct {
	guard  guard.Guard
	pools  []*filch.Pool
	rate   int
	events int
}

// An Option is an option of [New].
type Option func(h *handler)

// WithPools adds pools, of which the page shows one at a time. New panics if one is nil or was not made by [filch.New].
func WithPools(pools ...*filch.Pool) Option {
	return func(h *handler) { h.pools = append(h.pools, pools...) }
}

// WithHosts sets the host names or addresses, without a port, under which the page may be requested, besides localhost
// and loopback addresses. Requests under other names are refused, which keeps out other sites that make their own name
// resolve to here (DNS rebinding). Behind a reverse proxy, pass the name that browsers request.
//
// Anybody who reaches the server under the name can see the page, so use [WithToken] too. WithHosts panics if a name is
// empty, or has a port or a slash.
func WithHosts(names ...string) Option {
	for _, name := range names {
		if guard.Host(name) != strings.ToLower(strings.Trim(name, "[]")) || name == "" || strings.ContainsAny(name, "/ *") {
			panic(fmt.Sprintf("live: WithHosts(%q): a host is a name or an address without a port", name))
		}
	}
	return func(h *handler) {
		for _, name := range names {
			h.guard.Hosts = append(h.guard.Hosts, guard.Host(name))
		}
	}
}

// WithToken makes the page ask for a token before it shows anything. The user enters it in a form, or in the fragment
// of the URL, as in http://localhost:6060/debug/filch/#token=..., which browsers do not send. It becomes a cookie that
// scripts cannot read and other sites cannot use. [crypto/rand.Text] makes a good token. WithToken panics if it has
// fewer than 16 bytes.
func WithToken(t string) Option {
	if len(t) < 16 {
		panic(fmt.Sprintf("live: WithToken: the token has %d bytes; it must have 16 or more", len(t)))
	}
	return func(h *handler) { h.guard.Token = guard.NewToken(t) }
}

// WithRate sets how many messages a second a page receives, 5 by default. WithRate panics unless 1 <= n <= 30.
func WithRate(n int) Option {
	if n < 1 || n > 30 {
		panic(fmt.Sprintf("live: WithRate(%d): n must be from 1 to 30", n))
	}
	return func(h *handler) { h.rate = n }
}

// WithEvents sets about how many events a message has: the latest, shared among the workers. The default is 6,000. Each
// takes some 20 bytes and, in the server, less than a microsecond. WithEvents panics unless 100 <= n <= 100,000.
func WithEvents(n int) Option {
	if n < 100 || n > 100_000 {
		panic(fmt.Sprintf("live: WithEvents(%d): n must be from 100 to 100,000", n))
	}
	return func(h *handler) { h.events = n }
}

// Handler returns a handler that shows the given pools. It is New(WithPools(pools...)).
func Handler(pools ...*filch.Pool) http.Handler { return New(WithPools(pools...)) }

// New returns a handler that serves the page. It can be mounted under any prefix that ends in a slash, with
// [http.StripPrefix] or without. It does not listen: the program's server does.
//
// It refuses a request whose Host is neither loopback nor one of [WithHosts], one that a browser attributes to another
// origin and, with [WithToken], one without the token. Its answers allow browsers no scripts and styles but the page's
// own, and no frame around it.
//
// [http.Server.Shutdown] ends open pages, so it does not wait for them. Up to 16 pages may be open at a time. Recording
// a pool takes some 160 KB a worker, and a page 1 MB or less.
//
// New panics if there is no pool; if a pool is nil, there twice, or not made by [filch.New]; and if an option is nil.
func New(opts ...Option) http.Handler {
	h := &handler{rate: 5, events: 6000, guard: guard.Guard{Hint: "see WithHosts"}}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("live: New: option %d is nil", i))
		}
		opt(h)
	}
	if len(h.pools) == 0 {
		panic("live: New: there is no pool")
	}
	var feeds []*page.Feed
	for i, p := range h.pools {
		if slices.Contains(h.pools[:i], p) {
			panic(fmt.Sprintf("live: New: pool %d is there twice", i))
		}
		feeds = append(feeds, page.NewFeed(newWatch(h, i), time.Second/time.Duration(h.rate)))
	}
	return page.New(h.guard, embedded, func(r *http.Request) *page.Feed {
		number, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("pool"), "0"))
		if err != nil || number < 0 || number >= len(feeds) {
			return nil
		}
		return feeds[number]
	})
}
