package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// ruin answers how many of the walks that a request asks for fall below zero.
type ruin struct{ pool *filch.Pool }

func (s ruin) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	walks, err := strconv.Atoi(r.FormValue("walks"))
	if err != nil || walks < 0 {
		http.Error(out, "how many walks?", http.StatusBadRequest)
		return
	}
	n := 0
	err = s.pool.DoContext(r.Context(), func(w *filch.Worker) {
		n = par.CountRange(w, walks, ruined) // idle workers help with a large request
	})
	switch {
	case errors.Is(err, filch.ErrClosed):
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
	case err == nil: // otherwise the client has gone
		fmt.Fprintln(out, n)
	}
}

// ruined counts the ruined ones of the walks lo to hi-1.
func ruined(lo, hi int) (n int) {
	for walk := lo; walk < hi; walk++ {
		r := par.NewRand(1, walk)
		money := 10
		for step := 0; step < 200 && money >= 0; step++ {
			money += r.IntN(3) - 1
		}
		if money < 0 {
			n++
		}
	}
	return n
}

// ruinSerial computes a request on the goroutine that the server has started for it.
func ruinSerial(out http.ResponseWriter, r *http.Request) {
	walks, err := strconv.Atoi(r.FormValue("walks"))
	if err != nil || walks < 0 {
		http.Error(out, "how many walks?", http.StatusBadRequest)
		return
	}
	fmt.Fprintln(out, ruined(0, walks))
}

// ask lets a handler answer one request.
func ask(h http.Handler, walks int) string {
	out := httptest.NewRecorder()
	h.ServeHTTP(out, httptest.NewRequest(http.MethodGet, fmt.Sprint("/?walks=", walks), nil))
	return out.Body.String()
}

// askAll sends all requests at the same time, as a server receives them.
func askAll(h http.Handler, requests []int) string {
	answers := make([]string, len(requests))
	var wg sync.WaitGroup
	for i, walks := range requests {
		wg.Go(func() { answers[i] = ask(h, walks) })
	}
	wg.Wait()
	return fmt.Sprint(answers)
}

func makeRequests(p *filch.Pool, small bool) forms {
	requests := []int{1000, 1200, 1400, 1000, 1200, 1400, 1000, 1200, 1400, 24_000} // one is large
	if small {
		requests = []int{10, 0, 300}
	}
	plain := http.HandlerFunc(ruinSerial)
	return forms{
		serial: func() (any, error) {
			var answers []string
			for _, walks := range requests {
				answers = append(answers, ask(plain, walks))
			}
			return fmt.Sprint(answers), nil
		},
		goroutines: func() (any, error) { return askAll(plain, requests), nil },
		filch:      func() (any, error) { return askAll(ruin{p}, requests), nil },
	}
}
