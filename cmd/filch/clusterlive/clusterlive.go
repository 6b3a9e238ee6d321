// Package clusterlive is the page of filch cluster live: that of package live, with the nodes, the queues and the steals between
// nodes of a cluster in place of workers.
package clusterlive

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/guard"
	"github.com/filch-go/filch/internal/page"
)

//go:embed page
var embedded embed.FS

// View is what the servers say of a cluster.
type View struct {
	Nodes  []cluster.NodeInfo `json:"nodes"`
	Queues []cluster.Queue    `json:"queues"`
	Dead   map[string]int     `json:"dead"` // dead letters by handler
}

// Handler returns the handler of the page of a cluster, by its name. While a page is open, it asks what there is: at least a
// second after the last answer, whatever number of pages is open, one question at a time, and each for at most timeout. ctx is that
// of all questions. The page is for this machine alone.
func Handler(ctx context.Context, name string, timeout time.Duration, ask func(context.Context) (View, error)) http.Handler {
	return handler(&source{ctx, name, timeout, ask}, time.Second)
}

func handler(s *source, every time.Duration) http.Handler {
	feed := page.NewFeed(s, every)
	return page.New(guard.Guard{Hint: "this page is for this machine alone"}, embedded, func(*http.Request) *page.Feed { return feed })
}

// A source makes the messages of a cluster, for a [page.Feed].
type source struct {
	ctx     context.Context
	name    string
	timeout time.Duration
	ask     func(context.Context) (View, error)
}

// Hello implements [page.Source].
func (s *source) Hello() []byte { return page.Event("hello", s.name) }

// Start implements [page.Source].
func (s *source) Start() (message func() []byte) { return s.message }

// Stop implements [page.Source].
func (s *source) Stop() {}

// An answer is a View, or why there is none.
type answer struct {
	Wall  int64  `json:"wall"` // when it came, in ms since 1970
	Error string `json:"error,omitempty"`
	*View
}

// message asks what there is.
func (s *source) message() []byte {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	v, err := s.ask(ctx)
	a := answer{Wall: time.Now().UnixMilli(), View: &v}
	if err != nil {
		a.View, a.Error = nil, err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			a.Error = "the servers have not answered for " + s.timeout.String()
		}
	}
	return page.Event("view", a)
}
