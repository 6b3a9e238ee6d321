// Tiers answers requests of two kinds with one pool. Lookups are urgent and short. Reports take
// long, so each is submitted in parts, as tasks of a lower priority: a lookup waits for one part at
// most, not for a report. Lookups have a deadline and a limit. What happened to tasks is counted by
// name, and can be read at /metrics.
package main

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/filch-go/filch"
)

// Lower numbers run first.
const (
	urgent     = 0
	background = 10
)

// A service is a handler for both kinds.
type service struct {
	*http.ServeMux
	pool  *filch.Pool
	parts int
	work  func(ctx context.Context, n int) // a lookup is one of these, as is each part of a report
}

// newService makes a service with its pool. At most most lookups and parts are unfinished at
// a time.
func newService(most, parts int, work func(ctx context.Context, n int), opts ...filch.Option) *service {
	m := &metrics{}
	s := &service{ServeMux: http.NewServeMux(), parts: parts, work: work}
	s.pool = filch.New(append([]filch.Option{
		filch.WithName("tiers"), filch.WithOrder(filch.ByPriority), filch.WithTaskLimit(most, filch.Reject), filch.WithObserver(m),
	}, opts...)...)
	s.HandleFunc("GET /lookup", s.lookup)
	s.HandleFunc("GET /report", s.report)
	s.HandleFunc("GET /metrics", func(out http.ResponseWriter, _ *http.Request) { io.WriteString(out, m.counts.String()) })
	return s
}

// lookup is one urgent task, which has a second from here to its end.
func (s *service) lookup(out http.ResponseWriter, r *http.Request) {
	answer := filch.Submit(r.Context(), s.pool, func(ctx context.Context) (int, error) {
		s.work(ctx, 1)
		return 1, ctx.Err()
	}, filch.Named("lookup"), filch.AtPriority(urgent), filch.Within(time.Second))
	n, err := answer.Wait(r.Context())
	reply(out, n, err)
}

// report is many tasks. The group has a limit, so that one report does not use up that of the
// pool: the parts in line are here, not in the pool's queue.
func (s *service) report(out http.ResponseWriter, r *http.Request) {
	g := s.pool.Group(r.Context(), filch.GroupLimit(2*s.pool.Workers()))
	for i := range s.parts {
		g.Go(func(ctx context.Context) error {
			s.work(ctx, i)
			return ctx.Err()
		}, filch.Named("report"), filch.AtPriority(background))
	}
	reply(out, s.parts, g.Wait())
}

// reply says what became of a request. A client may come again if there was no room.
func reply(out http.ResponseWriter, n int, err error) {
	switch {
	case err == nil:
		fmt.Fprintln(out, n)
	case errors.Is(err, filch.ErrQueueFull):
		out.Header().Set("Retry-After", "1")
		http.Error(out, "busy", http.StatusServiceUnavailable)
	case errors.Is(err, filch.ErrClosed):
		http.Error(out, "the service ends", http.StatusServiceUnavailable)
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(out, "too slow", http.StatusGatewayTimeout)
	default:
		http.Error(out, err.Error(), http.StatusInternalServerError)
	}
}

// metrics count, by the names of tasks, what became of them, and for how long they waited and ran.
type metrics struct{ counts expvar.Map }

func (m *metrics) Observe(e filch.Event) {
	switch e.Kind {
	case filch.TaskRejected:
		m.counts.Add(e.Task+" rejected", 1)
	case filch.TaskCancelled:
		m.counts.Add(e.Task+" cancelled", 1)
	case filch.TaskDone:
		m.counts.Add(e.Task+" done", 1)
		m.counts.Add(e.Task+" waited, us", e.Started.Sub(e.Submitted).Microseconds())
		m.counts.Add(e.Task+" ran, us", e.Ended.Sub(e.Started).Microseconds())
		if e.Err != nil {
			m.counts.Add(e.Task+" failed", 1)
		}
	}
}

// compute is work of about a tenth of a millisecond, which ends early with ctx.
func compute(ctx context.Context, n int) {
	x := float64(n)
	for i := 0; i < 10 && ctx.Err() == nil; i++ {
		for range 1000 {
			x = math.Sin(x) + 1
		}
	}
	runtime.KeepAlive(x)
}

// load sends so many requests of each kind at a time, and returns how many had each status.
func load(h http.Handler, lookups, reports int) (statuses map[string]int) {
	statuses = map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for path, n := range map[string]int{"/lookup": lookups, "/report": reports} {
		for range n {
			wg.Go(func() {
				out := httptest.NewRecorder()
				h.ServeHTTP(out, httptest.NewRequest(http.MethodGet, path, nil))
				mu.Lock()
				defer mu.Unlock()
				statuses[fmt.Sprint(path, " ", out.Code)]++
			})
		}
	}
	wg.Wait()
	return statuses
}

func run(out io.Writer, lookups, reports, parts int) error {
	s := newService(lookups+100*reports, parts, compute)
	for what, n := range load(s, lookups, reports) {
		if !strings.HasSuffix(what, " 200") {
			return fmt.Errorf("%s: %d times", what, n)
		}
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	fmt.Fprintln(out, answer.Body)
	return s.pool.Shutdown(context.Background())
}

func main() {
	if err := run(os.Stdout, 100, 5, 200); err != nil {
		fmt.Fprintln(os.Stderr, "tiers:", err)
		os.Exit(1)
	}
}
