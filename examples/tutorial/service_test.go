package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// endless is a request that takes hours unless something ends it.
const endless = "/queens?n=20"

// ask returns what h answers.
func ask(ctx context.Context, h http.Handler, url string) (status int, body string) {
	out := httptest.NewRecorder()
	h.ServeHTTP(out, httptest.NewRequest(http.MethodGet, url, nil).WithContext(ctx))
	return out.Code, strings.TrimSpace(out.Body.String())
}

// computes waits until a worker of the pool is busy.
func computes(pool *filch.Pool) {
	for pool.Stats().Active == 0 {
		runtime.Gosched()
	}
}

// The service answers, and says what it refuses.
func TestTheServiceAnswers(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		h := handler(pool)
		if status, body := ask(t.Context(), h, "/queens?n=8"); status != http.StatusOK || body != "92" {
			t.Errorf(`ask(…, "/queens?n=8"): %d, %s`, status, body)
		}
		for _, n := range []string{"", "eight", "0", "21"} {
			if status, _ := ask(t.Context(), h, "/queens?n="+n); status != http.StatusBadRequest {
				t.Errorf(`ask(…, "/queens?n=%s"): %d`, n, status)
			}
		}
		if status, body := ask(t.Context(), h, "/debug/filch/"); status != http.StatusForbidden { // example.com is not this machine
			t.Errorf(`ask(…, "/debug/filch/"): %d, %s`, status, body)
		}
	})
}

// A request beyond the limit is refused, and the end of a request's context ends its search.
func TestTheServiceHasALimitAndCancels(t *testing.T) {
	pool := filch.New(filch.WithWorkers(1), filch.WithChecks())
	h := handler(pool)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan int, 1)
	go func() {
		status, _ := ask(ctx, h, endless)
		first <- status
	}()
	computes(pool)
	if status, body := ask(t.Context(), h, "/queens?n=8"); status != http.StatusServiceUnavailable || body != "too many requests" {
		t.Errorf(`ask(…, "/queens?n=8"): %d, %s`, status, body)
	}
	cancel()
	if status := <-first; status != http.StatusServiceUnavailable {
		t.Error("ask(ctx, h, endless):", status)
	}
	if status, body := ask(t.Context(), h, "/queens?n=6"); status != http.StatusOK || body != "4" {
		t.Errorf(`ask(…, "/queens?n=6"): %d, %s`, status, body)
	}
	pool.Close()
	if status, body := ask(t.Context(), h, "/queens?n=6"); status != http.StatusServiceUnavailable || body != filch.ErrClosed.Error() {
		t.Errorf(`ask(…, "/queens?n=6"): %d, %s`, status, body)
	}
}

// begin serves on a port of this machine, and returns its address and what ends it.
func begin(t *testing.T, pool *filch.Pool, grace time.Duration) (url string, end func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(`net.Listen("tcp", "127.0.0.1:0"):`, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, pool, grace) }()
	return "http://" + listener.Addr().String(), func() error {
		cancel()
		return <-served
	}
}

// get returns what the server at url answers.
func get(url string) (body string, err error) {
	answer, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return strings.TrimSpace(string(b)), err
}

// The service ends in order, and its pool with it.
func TestTheServiceEnds(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		url, end := begin(t, pool, time.Minute)
		if body, err := get(url + "/queens?n=8"); err != nil || body != "92" {
			t.Error("get(…):", body, err)
		}
		if body, err := get(url + "/debug/filch/"); err != nil || !strings.Contains(body, "<html") {
			t.Error("get(…):", body, err)
		}
		if err := end(); err != nil {
			t.Error("end():", err)
		}
		<-pool.Done()
	})
}

// A request that takes too long is ended with the service.
func TestTheEndDoesNotWaitForEver(t *testing.T) {
	pool := filch.New(filch.WithWorkers(2), filch.WithChecks())
	url, end := begin(t, pool, time.Millisecond)
	asked := make(chan error, 1)
	go func() {
		_, err := get(url + endless)
		asked <- err
	}()
	computes(pool)
	if err := end(); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("end():", err)
	}
	if err := <-asked; err == nil {
		t.Error("an endless request has an answer")
	}
	<-pool.Done()
}
