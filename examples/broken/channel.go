package main

import (
	"context"

	"github.com/filch-go/filch"
)

func channel(p *filch.Pool) {
	meal := make(chan string)
	p.Go(background, func(context.Context) { <-meal }, filch.Named("eats"))
	p.Go(background, func(context.Context) { meal <- "soup" }, filch.Named("cooks"))
}

func channelCured(p *filch.Pool) {
	cooks := filch.Submit(background, p, func(context.Context) (string, error) { return "soup", nil }, filch.Named("cooks"))
	eats := filch.Submit(background, p, func(ctx context.Context) (string, error) { return cooks.Wait(ctx) }, filch.Named("eats"))
	eats.Wait(background)
}
