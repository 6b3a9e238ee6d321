// Pools is a program before and after: it renders the rows of the Mandelbrot set
// with ants, with pond and with filch.
//
//	go run ./pools
//
// What is different afterwards: results come in order and with errors, without a
// WaitGroup and a slice to share; nothing needs to be released; and a row may
// itself be cut into tasks that it waits for, on the same workers.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"

	"github.com/filch-go/filch"
)

const width, height, limit, workers = 600, 400, 500, 4

// row returns how many steps each point of a row takes to escape.
func row(y, from, to int) []int {
	steps := make([]int, 0, to-from)
	for x := from; x < to; x++ {
		c := complex(float64(x)/width*3-2, float64(y)/height*2-1)
		z, n := 0i, 0
		for n < limit && real(z)*real(z)+imag(z)*imag(z) < 4 {
			z = z*z + c
			n++
		}
		steps = append(steps, n)
	}
	return steps
}

func withAnts() ([][]int, error) {
	p, err := ants.NewPool(workers)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	rows := make([][]int, height)
	var wg sync.WaitGroup
	for y := range height {
		wg.Add(1)
		if err := p.Submit(func() {
			defer wg.Done()
			rows[y] = row(y, 0, width)
		}); err != nil {
			wg.Done()
			return nil, err
		}
	}
	wg.Wait()
	return rows, nil
}

func withPond() ([][]int, error) {
	p := pond.NewResultPool[[]int](workers)
	defer p.StopAndWait()
	g := p.NewGroup()
	for y := range height {
		g.Submit(func() []int { return row(y, 0, width) })
	}
	return g.Wait()
}

func withFilch() ([][]int, error) {
	p := filch.New(filch.WithWorkers(workers))
	g := filch.NewResultGroup[[]int](context.Background(), p)
	for y := range height {
		g.Go(func(context.Context) ([]int, error) { return row(y, 0, width), nil })
	}
	return g.Wait()
}

// nested cuts each row in halves, which it waits for. The other two would
// deadlock here once all their workers wait.
func nested() ([][]int, error) {
	p := filch.New(filch.WithWorkers(workers))
	g := filch.NewResultGroup[[]int](context.Background(), p)
	for y := range height {
		g.Go(func(ctx context.Context) ([]int, error) {
			right := filch.Submit(ctx, p, func(context.Context) ([]int, error) { return row(y, width/2, width), nil })
			left := row(y, 0, width/2)
			r, err := right.Wait(ctx)
			return append(left, r...), err
		})
	}
	return g.Wait()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pools:", err)
		os.Exit(1)
	}
}

func run() error {
	var first [][]int
	for _, way := range []struct {
		name   string
		render func() ([][]int, error)
	}{{"ants", withAnts}, {"pond", withPond}, {"filch", withFilch}, {"filch, nested", nested}} {
		begin := time.Now()
		rows, err := way.render()
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		fmt.Printf("%-14s %v\n", way.name, time.Since(begin).Round(time.Millisecond))
		if first == nil {
			first = rows
		}
		if !slices.EqualFunc(first, rows, slices.Equal) {
			return fmt.Errorf("%s: the picture differs", way.name)
		}
	}
	return nil
}
