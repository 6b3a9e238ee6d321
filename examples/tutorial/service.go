package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/live"
)

// count counts the ways to place n queens, until ctx ends.
func count(ctx context.Context, pool *filch.Pool, n int) (ways int, err error) {
	var stop filch.Stop
	defer context.AfterFunc(ctx, stop.Stop)()
	stopped := false
	err = pool.DoContext(ctx, func(w *filch.Worker) {
		ways, stopped = queensAll.CallUntil(w, &stop, emptyBoard(n))
	})
	if stopped {
		return 0, context.Cause(ctx)
	}
	return ways, err
}

// A service answers requests such as /queens?n=8.
type service struct {
	pool *filch.Pool
	busy chan struct{} // one element for each request that computes
}

// ServeHTTP refuses a request if others fill busy.
func (s *service) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil || n < 1 || n > 20 {
		http.Error(out, "n must be from 1 to 20", http.StatusBadRequest)
		return
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		http.Error(out, "too many requests", http.StatusServiceUnavailable)
		return
	}
	ways, err := count(r.Context(), s.pool, n)
	if err != nil {
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(out, ways)
}

// handler has the service and the live page of its pool.
func handler(pool *filch.Pool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/queens", &service{pool, make(chan struct{}, pool.Workers())})
	mux.Handle("/debug/filch/", live.Handler(pool))
	return mux
}

// serve answers requests until ctx ends, and gives those that it has accepted so much time to end.
func serve(ctx context.Context, listener net.Listener, pool *filch.Pool, grace time.Duration) error {
	server := &http.Server{Handler: handler(pool)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return errors.Join(err, pool.Close())
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(ctx) // waits for the requests
	if err != nil {
		server.Close() // ends their contexts
	}
	return errors.Join(err, pool.Shutdown(ctx))
}
