// Errgroup is a program before and after: the digests of all files of a folder,
// with golang.org/x/sync/errgroup and with filch, and the first error ends all.
//
//	go run ./errgroup [folder]
//
// Before, each folder is listed by the goroutine that has found it, since a
// function of a group with a limit that waits for room in the same group can
// wait for ever. After, each folder is a task that waits for those below it, on
// the same workers as the files.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filch-go/filch"
)

// digests are by the names of the files.
type digests map[string][sha256.Size]byte

const workers = 8

func before(ctx context.Context, folder fs.FS) (digests, error) {
	all := digests{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			data, err := fs.ReadFile(folder, name)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			mu.Lock()
			defer mu.Unlock()
			all[name] = sum
			return nil
		})
		return ctx.Err()
	})
	if first := g.Wait(); first != nil {
		return nil, first
	}
	return all, err
}

func after(ctx context.Context, folder fs.FS) (digests, error) {
	p := filch.New(filch.WithWorkers(workers))
	return digest(ctx, p, folder, ".")
}

// digest returns the digests of what is in dir, and below.
func digest(ctx context.Context, p *filch.Pool, folder fs.FS, dir string) (digests, error) {
	entries, err := fs.ReadDir(folder, dir)
	if err != nil {
		return nil, err
	}
	g := filch.NewResultGroup[digests](ctx, p)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			g.Go(func(ctx context.Context) (digests, error) { return digest(ctx, p, folder, name) })
		case e.Type().IsRegular():
			g.Go(func(ctx context.Context) (digests, error) {
				data, err := fs.ReadFile(folder, name)
				return digests{name: sha256.Sum256(data)}, err
			})
		}
	}
	parts, err := g.Wait()
	if err != nil {
		return nil, err
	}
	all := digests{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all, nil
}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(os.DirFS(dir)); err != nil {
		fmt.Fprintln(os.Stderr, "errgroup:", err)
		os.Exit(1)
	}
}

func run(folder fs.FS) error {
	ctx := context.Background()
	if _, err := before(ctx, folder); err != nil { // the second time, files are in memory
		return err
	}
	begin := time.Now()
	old, err := before(ctx, folder)
	if err != nil {
		return err
	}
	between := time.Now()
	now, err := after(ctx, folder)
	if err != nil {
		return err
	}
	fmt.Printf("%d files; errgroup %v, filch %v\n", len(now),
		between.Sub(begin).Round(time.Millisecond), time.Since(between).Round(time.Millisecond))
	if !maps.Equal(old, now) {
		return fmt.Errorf("the digests differ")
	}
	return nil
}
