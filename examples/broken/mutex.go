package main

import (
	"context"
	"sync"

	"github.com/filch-go/filch"
)

func mutex(p *filch.Pool) {
	var sink sync.Mutex
	wash := func(context.Context) error {
		sink.Lock()
		defer sink.Unlock()
		return nil
	}
	go func() {
		sink.Lock()
		defer sink.Unlock()
		g := p.Group(background)
		for range 3 {
			g.Go(wash, filch.Named("wash")) // the third is too many: the caller runs it
		}
		g.Wait()
	}()
}

func mutexCured(p *filch.Pool) {
	var sink sync.Mutex
	wash := func(context.Context) error {
		sink.Lock()
		defer sink.Unlock()
		return nil
	}
	g := p.Group(background)
	for range 3 {
		g.Go(wash, filch.Named("wash"))
	}
	g.Wait()
	sink.Lock() // what needs it beside the tasks comes before them, or after the wait
	defer sink.Unlock()
}
