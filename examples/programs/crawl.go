package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/filch-go/filch"
)

// crawlGoroutines fetches all pages that can be reached from page 1, at most atOnce at a time, and counts them.
func crawlGoroutines(ctx context.Context, s site, atOnce int) (int, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var known pages
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	var visit func(page int)
	visit = func(page int) {
		slots <- struct{}{}
		links, err := s.fetch(ctx, page)
		<-slots
		if err != nil {
			fail(err) // ends all other fetches
		}
		for _, link := range links {
			if known.add(link) {
				wg.Go(func() { visit(link) })
			}
		}
	}
	known.add(1)
	visit(1)
	wg.Wait()
	return known.number(), context.Cause(ctx)
}

// crawl does the same in tasks of a pool, whose workers are free while a page comes.
func crawl(ctx context.Context, p *filch.Pool, s site, atOnce int) (int, error) {
	var known pages
	g, slots := p.Group(ctx), p.Subpool(atOnce)
	var visit func(ctx context.Context, page int) error
	visit = func(ctx context.Context, page int) (err error) {
		var links []int
		filch.Blocking(ctx, func() { links, err = s.fetch(ctx, page) })
		for _, link := range links {
			if known.add(link) {
				g.GoFrom(ctx, func(ctx context.Context) error { return visit(ctx, link) }, slots)
			}
		}
		return err
	}
	known.add(1)
	g.Go(func(ctx context.Context) error { return visit(ctx, 1) }, slots)
	err := g.Wait()
	return known.number(), err
}

func crawlSerial(ctx context.Context, s site) (int, error) {
	var known pages
	known.add(1)
	for next := []int{1}; len(next) > 0; next = next[1:] {
		links, err := s.fetch(ctx, next[0])
		if err != nil {
			return known.number(), err
		}
		for _, link := range links {
			if known.add(link) {
				next = append(next, link)
			}
		}
	}
	return known.number(), nil
}

// pages are those that were found.
type pages struct {
	mu  sync.Mutex
	all map[int]bool
}

// add reports whether page was not found before.
func (p *pages) add(page int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[int]bool{}
	}
	old := p.all[page]
	p.all[page] = true
	return !old
}

func (p *pages) number() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// A site is made up: its pages are numbered from 1.
type site struct{ pages int }

// fetch returns the links of a page after some time.
func (s site) fetch(ctx context.Context, page int) (links []int, err error) {
	if page > s.pages {
		return nil, fmt.Errorf("there is no page %d", page)
	}
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for _, link := range []int{2 * page, 2*page + 1, 1 + page/2} {
		if link <= s.pages {
			links = append(links, link)
		}
	}
	return links, nil
}

func makeCrawl(p *filch.Pool, small bool) forms {
	ctx, s := context.Background(), site{pages: 60}
	if small {
		s.pages = 12
	}
	return forms{
		serial:     func() (any, error) { return crawlSerial(ctx, s) },
		goroutines: func() (any, error) { return crawlGoroutines(ctx, s, 8) },
		filch:      func() (any, error) { return crawl(ctx, p, s, 8) },
	}
}
