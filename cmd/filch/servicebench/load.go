package servicebench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// A Load is what clients send: requests at times that do not depend on when others are answered.
type Load struct {
	Rate    float64 // requests a second, on average; the gaps are those of a Poisson process
	Lasts   time.Duration
	Timeout time.Duration // clients leave then
	Seed    uint64
}

// A Result is what became of a load. Times are from when a request was due, not from when it was sent.
type Result struct {
	Urgent, Others []time.Duration // of those that were answered in time
	Sent           int
	CPU            time.Duration // of the service, for all of it
	Took           time.Duration // from the first request to the last answer
}

// Run sends the load to the service at that address, to be served in the way of that name.
func (l Load) Run(ctx context.Context, address, name string) (Result, error) {
	path := -1
	for i, w := range ways {
		if w.name == name {
			path = i
		}
	}
	if path < 0 {
		return Result{}, fmt.Errorf("no way to serve is called %q", name)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096, DisableCompression: true}}
	defer client.CloseIdleConnections()
	before, err := usageOf(ctx, client, address)
	if err != nil {
		return Result{}, err
	}
	r, err := l.send(ctx, client, fmt.Sprintf("http://%s/%d", address, path))
	if err != nil {
		return Result{}, err
	}
	after, err := usageOf(ctx, client, address)
	r.CPU = after - before
	return r, err
}

func (l Load) send(ctx context.Context, client *http.Client, url string) (r Result, failed error) {
	random := rand.New(rand.NewPCG(l.Seed, 0))
	var mu sync.Mutex
	var all sync.WaitGroup
	begin := time.Now()
	due := begin
	for ctx.Err() == nil {
		due = due.Add(time.Duration(random.ExpFloat64() / l.Rate * float64(time.Second)))
		if due.Sub(begin) > l.Lasts {
			break
		}
		urgent, from, at := random.IntN(10) == 0, random.IntN(clients), due
		time.Sleep(time.Until(due))
		r.Sent++
		all.Go(func() {
			ok, err := l.one(ctx, client, url, from, urgent, at)
			took := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed = err
			case !ok:
			case urgent:
				r.Urgent = append(r.Urgent, took)
			default:
				r.Others = append(r.Others, took)
			}
		})
	}
	all.Wait()
	r.Took = time.Since(begin)
	if ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	return r, failed
}

// one sends a request, and reports whether it was answered in time.
func (l Load) one(ctx context.Context, client *http.Client, url string, from int, urgent bool, due time.Time) (ok bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, due.Add(l.Timeout))
	defer cancel()
	url = fmt.Sprintf("%s?client=%d", url, from)
	if urgent {
		url += "&urgent=1"
	}
	in, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	out, err := client.Do(in)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil
		}
		return false, err
	}
	defer out.Body.Close()
	n, err := io.Copy(io.Discard, out.Body)
	switch {
	case ctx.Err() != nil:
		return false, nil
	case err != nil:
		return false, err
	case out.StatusCode == http.StatusServiceUnavailable:
		return false, nil
	case out.StatusCode != http.StatusOK || n < 1000:
		return false, fmt.Errorf("%s: status %d, %d bytes", url, out.StatusCode, n)
	}
	return true, nil
}

func usageOf(ctx context.Context, client *http.Client, address string) (used time.Duration, err error) {
	in, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/usage", nil)
	if err != nil {
		return 0, err
	}
	out, err := client.Do(in)
	if err != nil {
		return 0, err
	}
	defer out.Body.Close()
	err = json.NewDecoder(out.Body).Decode(&used)
	return used, err
}
