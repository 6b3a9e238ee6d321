package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
)

// Under load, every request is answered, and every task is counted.
func TestRunAnswersAll(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 30, 3, 40); err != nil {
		t.Error("run(&out, 30, 3, 40):", err)
	}
	for _, want := range []string{`"lookup done": 30`, `"report done": 120`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, &out)
		}
	}
}

func sleep(ctx context.Context, _ int) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// A lookup that comes while reports run waits for one part of them at most.
func TestALookupWaitsForOnePart(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(1000, 100, sleep, filch.WithWorkers(workers), filch.WithStallTimeout(0))
			reports := make(chan bool)
			go func() { load(s, 0, 3); close(reports) }()
			time.Sleep(35 * time.Millisecond) // in the middle of the fourth parts
			begin := time.Now()
			load(s, 1, 0)
			if took := time.Since(begin); took > 15*time.Millisecond { // 5 until a part ends, and 10 of its own
				t.Errorf("with %d workers, a lookup took %v", workers, took)
			}
			<-reports
			s.pool.Close()
		})
	}
}

// A lookup that is too late, or too many, or comes after the end, is told so.
func TestALookupThatIsRefusedIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(2, 1, func(ctx context.Context, _ int) { <-ctx.Done() }, filch.WithWorkers(1), filch.WithStallTimeout(0))
		want := map[string]int{"/lookup 503": 3, "/lookup 504": 2}
		if got := load(s, 5, 0); !maps.Equal(got, want) {
			t.Error("load(s, 5, 0):", got)
		}
		s.pool.Shutdown(context.Background())
		if got := load(s, 1, 1); !maps.Equal(got, map[string]int{"/lookup 503": 1, "/report 503": 1}) {
			t.Error("load(s, 1, 1):", got)
		}
		out := httptest.NewRecorder()
		s.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if want := `"lookup rejected": 4`; !strings.Contains(out.Body.String(), want) {
			t.Errorf("%s is not in %s", want, out.Body)
		}
	})
}

// A request whose client has gone frees the workers.
func TestAClientThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(100, 50, sleep, filch.WithWorkers(2), filch.WithStallTimeout(0))
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
		defer cancel()
		out := httptest.NewRecorder()
		begin := time.Now()
		s.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/report", nil).WithContext(ctx))
		if took := time.Since(begin); took != 25*time.Millisecond || out.Code != http.StatusGatewayTimeout {
			t.Error("time.Since(begin):", took, out.Code)
		}
		if err := s.pool.Shutdown(t.Context()); err != nil {
			t.Error("s.pool.Shutdown(t.Context()):", err)
		}
		if n := s.pool.Stats(); n.Active+n.Blocked+n.Tasks.Queued != 0 {
			t.Errorf("s.pool.Stats(): %+v", n)
		}
	})
}
