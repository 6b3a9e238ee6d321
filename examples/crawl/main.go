// Crawl visits all pages that can be reached from a start page: a task for each
// page, which submits tasks for its links and waits for them. On a pool of fixed
// workers that deadlocks; here two workers do.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/filch-go/filch"
)

// site is a made-up one: page n links to 2n and 2n+1, and to a page that was
// seen before.
type site struct{ pages int }

func (s site) links(page int) (links []int) {
	time.Sleep(time.Millisecond) // the network
	for _, p := range []int{2 * page, 2*page + 1, page / 2} {
		if p >= 1 && p <= s.pages {
			links = append(links, p)
		}
	}
	return links
}

// crawler remembers what it has seen.
type crawler struct {
	site site
	pool *filch.Pool
	mu   sync.Mutex
	seen map[int]bool
}

// first reports whether page was not seen before.
func (c *crawler) first(page int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.seen[page]
	c.seen[page] = true
	return !old
}

// visit returns how many pages were seen first from here.
func (c *crawler) visit(ctx context.Context, page int) (int, error) {
	if !c.first(page) {
		return 0, nil
	}
	var links []int
	filch.Blocking(ctx, func() { links = c.site.links(page) })
	g := filch.NewResultGroup[int](ctx, c.pool)
	for _, link := range links {
		g.Go(func(ctx context.Context) (int, error) { return c.visit(ctx, link) })
	}
	counts, err := g.Wait()
	sum := 1
	for _, n := range counts {
		sum += n
	}
	return sum, err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

func run() error {
	const pages = 1000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	c := &crawler{site: site{pages}, pool: p, seen: map[int]bool{}}
	start := time.Now()
	n, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return c.visit(ctx, 1) }).Wait(context.Background())
	if err == nil && n != pages {
		err = fmt.Errorf("%d of %d pages", n, pages)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d pages of 1 ms each in %v\n", n, time.Since(start).Round(time.Millisecond))
	return nil
}
