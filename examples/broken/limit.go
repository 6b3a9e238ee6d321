package main

import (
	"context"
	"sync"

	"github.com/filch-go/filch"
)

func limit(p *filch.Pool) {
	g := p.Group(background, filch.GroupLimit(2))
	var cooks sync.WaitGroup
	cooks.Add(2)
	for range 2 {
		g.Go(func(context.Context) error {
			cooks.Done()
			cooks.Wait() // now there is no slot left
			g.Go(func(context.Context) error { return nil }, filch.Named("chops"))
			return nil
		}, filch.Named("cooks"))
	}
}

func limitCured(p *filch.Pool) {
	g := p.Group(background, filch.GroupLimit(2))
	var cooks sync.WaitGroup
	cooks.Add(2)
	for range 2 {
		g.Go(func(ctx context.Context) error {
			cooks.Done()
			cooks.Wait()
			g.GoFrom(ctx, func(context.Context) error { return nil }, filch.Named("chops"))
			return nil
		}, filch.Named("cooks"))
	}
	g.Wait()
}
