package main

import (
	"context"

	"github.com/filch-go/filch"
)

func circle(p *filch.Pool) {
	known, begun := make(chan bool), make(chan bool)
	var soup *filch.Future[int]
	soup = filch.Submit(background, p, func(ctx context.Context) (int, error) {
		<-known
		g := p.Group(ctx)
		g.Go(func(ctx context.Context) error {
			close(begun)
			_, err := soup.Wait(ctx)
			return err
		}, filch.Named("bread"))
		<-begun
		return 1, g.Wait()
	}, filch.Named("soup"))
	close(known)
}

func circleCured(p *filch.Pool) {
	soup := filch.Submit(background, p, func(context.Context) (int, error) { return 1, nil }, filch.Named("soup"))
	g := p.Group(background)
	g.Go(func(ctx context.Context) error {
		_, err := soup.Wait(ctx)
		return err
	}, filch.Named("bread"))
	g.Wait()
}
