// Package servicebench measures a service: thumbnails by HTTP, behind filch and behind other ways to limit how many requests
// compute at once. The service is a process of its own, so that its processor time can be told from that of its clients.
package servicebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"golang.org/x/sync/errgroup"

	"github.com/filch-go/filch"
)

// clients is how many clients the service knows. Each has a limit of its own where the way to serve has such limits.
const clients = 8

// A request is what a way to serve knows of a request.
type request struct {
	client int
	urgent bool
}

// A compute function makes a thumbnail in a scope, which is nil where there is none.
type compute = func(s filch.Scope) ([]byte, error)

// A way is one way to serve requests: it calls the function when the request may compute, and returns its results, or the error
// of ctx if that ends first.
type way struct {
	name  string
	start func(workers int) func(ctx context.Context, r request, f compute) ([]byte, error)
}

// Names returns those of the ways, the one that others are compared with first.
func Names() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

type answer struct {
	body []byte
	err  error
}

// within runs f by submit and waits for it, for pools that return nothing. What nobody waits for any more is not computed.
func within(ctx context.Context, f compute, submit func(func()) error) ([]byte, error) {
	done := make(chan answer, 1)
	err := submit(func() {
		if ctx.Err() != nil {
			done <- answer{err: ctx.Err()}
			return
		}
		body, err := f(nil)
		done <- answer{body, err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-done:
		return a.body, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var ways = []way{
	{"semaphore", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		slots := make(chan bool, workers)
		return func(ctx context.Context, _ request, f compute) ([]byte, error) {
			select {
			case slots <- true:
				defer func() { <-slots }()
				return f(nil)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}},
	{"goroutines", func(int) func(context.Context, request, compute) ([]byte, error) {
		return func(_ context.Context, _ request, f compute) ([]byte, error) { return f(nil) }
	}},
	{"errgroup", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		var g errgroup.Group
		g.SetLimit(workers)
		return func(ctx context.Context, _ request, f compute) ([]byte, error) {
			return within(ctx, f, func(f func()) error { g.Go(func() error { f(); return nil }); return nil })
		}
	}},
	{"ants", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		p, err := ants.NewPool(workers)
		if err != nil {
			panic(err)
		}
		return func(ctx context.Context, _ request, f compute) ([]byte, error) { return within(ctx, f, p.Submit) }
	}},
	{"pond", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		p := pond.NewPool(workers)
		return func(ctx context.Context, _ request, f compute) ([]byte, error) { return within(ctx, f, p.Go) }
	}},
	{"filch", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		return filchWay(workers, func(context.Context) filch.Scope { return nil })
	}},
	{"filch, par", func(workers int) func(context.Context, request, compute) ([]byte, error) {
		return filchWay(workers, func(ctx context.Context) filch.Scope { return filch.ScopeOf(ctx) })
	}},
}

// filchWay serves by a pool that takes urgent requests first, with a Subpool for each client.
func filchWay(workers int, scope func(ctx context.Context) filch.Scope) func(context.Context, request, compute) ([]byte, error) {
	p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.ByPriority))
	parts := make([]*filch.Subpool, clients)
	for i := range parts {
		parts[i] = p.Subpool(workers, filch.WithName(fmt.Sprint("client ", i)), filch.WithOrder(filch.ByPriority))
	}
	return func(ctx context.Context, r request, f compute) ([]byte, error) {
		priority := 1
		if r.urgent {
			priority = 0
		}
		return filch.Submit(ctx, p, func(ctx context.Context) ([]byte, error) { return f(scope(ctx)) },
			parts[r.client], filch.AtPriority(priority)).Wait(ctx)
	}
}

// newHandler returns the service: a path for each way, by its number, and the processor time at /usage.
func newHandler(workers int, usage func() time.Duration) http.Handler {
	p := newPhoto(photoWidth, photoHeight)
	mux := http.NewServeMux()
	for i, w := range ways {
		serve := w.start(workers)
		mux.HandleFunc(fmt.Sprint("/", i), func(out http.ResponseWriter, in *http.Request) {
			client, err := strconv.Atoi(in.FormValue("client"))
			if err != nil || client < 0 || client >= clients {
				http.Error(out, "client: no such client", http.StatusBadRequest)
				return
			}
			body, err := serve(in.Context(), request{client, in.FormValue("urgent") != ""}, p.thumbnail)
			if err != nil {
				http.Error(out, err.Error(), http.StatusServiceUnavailable)
				return
			}
			out.Header().Set("Content-Type", "image/jpeg")
			_, _ = out.Write(body)
		})
	}
	mux.HandleFunc("/usage", func(out http.ResponseWriter, _ *http.Request) {
		runtime.GC()
		_ = json.NewEncoder(out).Encode(usage())
	})
	return mux
}

// Serve runs the service until in ends, and writes its address to out.
func Serve(in io.Reader, out io.Writer, workers int, usage func() time.Duration) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.Addr())
	server := &http.Server{Handler: newHandler(workers, usage), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
