package main

import (
	"context"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// baked ends the long computation.
var baked atomic.Bool

func leaf(p *filch.Pool) {
	begun := make(chan bool)
	p.Go(background, func(context.Context) {
		close(begun)
		for !baked.Load() {
		}
	}, filch.Named("bakes"), filch.AtPriority(5))
	<-begun
	p.Go(background, func(context.Context) {}, filch.Named("serves"), filch.AtPriority(1))
}

func leafCured(p *filch.Pool) {
	begun, served := make(chan bool), make(chan bool)
	p.Go(background, func(ctx context.Context) {
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			close(begun)
			for isServed := false; !isServed; {
				w.Poll()
				select {
				case <-served:
					isServed = true
				default:
				}
			}
		})
	}, filch.Named("bakes"), filch.AtPriority(5))
	<-begun
	p.Go(background, func(context.Context) { close(served) }, filch.Named("serves"), filch.AtPriority(1))
	<-served
}
