// Service answers requests over HTTP with a pool, and then ends in the right order: first
// the server, which waits for the requests that it has accepted, then the pool. Each request
// enters the pool several times, so the other order would turn some away half done. Clients
// keep sending requests until they are refused; whatever was accepted is answered.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// walks is how many random walks a request simulates, of so many steps.
const walks, steps = 300, 100

// answer is what a request comes to: how far the walks got, from the nearest to the farthest.
type answer struct{ Least, Median, Most, Mean float64 }

// service is the server's handler.
type service struct {
	pool     *filch.Pool
	begun    atomic.Int64
	answered atomic.Int64
	some     int64     // when so many are answered,
	enough   chan bool // this is closed
}

// ServeHTTP answers a request. If the pool is closed, that is 503 and no panic.
func (s *service) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	s.begun.Add(1)
	a, err := s.simulate(r.Context())
	switch {
	case errors.Is(err, filch.ErrClosed):
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	if json.NewEncoder(out).Encode(a) == nil && s.answered.Add(1) == s.some {
		close(s.enough)
	}
}

// simulate enters the pool three times.
func (s *service) simulate(ctx context.Context) (a answer, err error) {
	seeds := make([]uint64, walks)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	far, err := par.MapErr(s.pool, seeds, walk, par.WithContext(ctx))
	if err != nil {
		return a, err
	}
	err = s.pool.DoContext(ctx, func(w *filch.Worker) { par.Sort(w, far) })
	if err != nil {
		return a, err
	}
	err = s.pool.TryDo(func(w *filch.Worker) { a.Mean = par.Sum(w, far) / walks })
	a.Least, a.Median, a.Most = far[0], far[walks/2], far[walks-1]
	return a, err
}

// walk takes random steps, and returns how far it gets.
func walk(seed uint64) (float64, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := 0.0, 0.0
	for range steps {
		sin, cos := math.Sincos(2 * math.Pi * r.Float64())
		x, y = x+cos, y+sin
	}
	return math.Hypot(x, y), nil
}

// end ends the service: the server first, so that the pool is open for as long as there is
// a request.
func end(ctx context.Context, server *http.Server, pool *filch.Pool) error {
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return pool.Shutdown(ctx)
}

// client sends requests until the server is gone, and returns how many were answered. Each is
// a connection of its own, so that none is lost with one that the server closes idle.
func client(ctx context.Context, url string) (answered int, err error) {
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return answered, err
		}
		resp, err := c.Do(req)
		if err != nil {
			return answered, nil // not accepted
		}
		var a answer
		err = json.NewDecoder(resp.Body).Decode(&a)
		resp.Body.Close()
		switch {
		case resp.StatusCode != http.StatusOK:
			return answered, errors.New(resp.Status)
		case err != nil:
			return answered, err
		case a.Least > a.Median || a.Median > a.Most || a.Mean > a.Most:
			return answered, fmt.Errorf("a wrong answer: %+v", a)
		}
		answered++
	}
}

// run serves so many clients at a time, and ends the service when so many requests have been
// answered, while more are coming.
func run(out io.Writer, pool *filch.Pool, clients, requests int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &service{pool: pool, some: int64(requests), enough: make(chan bool)}
	server := &http.Server{Handler: s}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var answered atomic.Int64
	errs := make([]error, clients)
	for i := range clients {
		wg.Go(func() {
			n, err := client(ctx, "http://"+listener.Addr().String())
			answered.Add(int64(n))
			errs[i] = err
		})
	}
	select {
	case <-s.enough:
	case <-ctx.Done():
	}
	err = end(ctx, server, pool)
	if e := <-served; e != http.ErrServerClosed {
		err = errors.Join(err, e)
	}
	wg.Wait()
	if err = errors.Join(append(errs, err)...); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d requests begun, %d answered, %d answers received\n", s.begun.Load(), s.answered.Load(), answered.Load())
	if s.begun.Load() != answered.Load() || answered.Load() < int64(requests) {
		return errors.New("requests were lost")
	}
	return nil
}

func main() {
	if err := run(os.Stdout, filch.New(), 8, 200); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}
