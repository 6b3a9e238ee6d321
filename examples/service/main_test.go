package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

// The service is ended while requests are coming, and whatever it has accepted is answered.
func TestRunLosesNothing(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		var out strings.Builder
		if err := run(&out, filch.New(filch.WithWorkers(workers)), 6, 30); err != nil {
			t.Error("run(&out, …, 6, 30):", err, out.String())
		}
	}
}

// In the other order, a request that comes after the pool is closed is refused, not a panic.
func TestAClosedPoolIsUnavailable(t *testing.T) {
	p := filch.New()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal("p.Shutdown(context.Background()):", err)
	}
	got := httptest.NewRecorder()
	(&service{pool: p}).ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/", nil))
	if got.Code != http.StatusServiceUnavailable {
		t.Errorf("httptest.NewRecorder(): %d: %s", got.Code, got.Body)
	}
}
