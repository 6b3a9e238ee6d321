package benchmarks

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// archiver writes blocks compressed, as pgzip does: several at a time, and in order. Its Write
// blocks when too many are under way.
type archiver struct {
	start   func(f func()) // runs f some time, elsewhere
	block   func(f func()) // calls f, which may block
	results chan chan []byte
	written chan error
}

// newArchiver returns an archiver that writes to out.
func newArchiver(out io.WriteCloser, start, block func(f func())) *archiver {
	a := &archiver{start, block, make(chan chan []byte, 2), make(chan error, 1)}
	go func() {
		var err error
		for r := range a.results {
			if b := <-r; err == nil {
				_, err = out.Write(b)
			}
		}
		out.Close()
		a.written <- err
	}()
	return a
}

// Write compresses b, which must not be changed until Close.
func (a *archiver) Write(b []byte) (int, error) {
	result := make(chan []byte, 1)
	a.block(func() { a.results <- result })
	a.start(func() {
		var out bytes.Buffer
		z, _ := flate.NewWriter(&out, flate.BestSpeed)
		z.Write(b)
		z.Flush()
		result <- out.Bytes()
	})
	return len(b), nil
}

func (a *archiver) Close() (err error) {
	close(a.results)
	a.block(func() { err = <-a.written })
	return err
}

// slowReader reads what was written to it in pieces, and rests after each.
func slowReader(in io.Reader) (size int) {
	piece := make([]byte, 16<<10)
	for {
		n, err := io.ReadFull(in, piece)
		size += n
		if err != nil {
			return size
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// archive writes so many blocks, and returns to how many bytes they come.
func archive(blocks int, block []byte, start, wait func(f func())) (size int, err error) {
	in, out := io.Pipe()
	read := make(chan int)
	go func() { read <- slowReader(in) }()
	a := newArchiver(out, start, wait)
	for range blocks {
		a.Write(block)
	}
	err = a.Close()
	wait(func() { size = <-read })
	return size, err
}

// A few archives are written at a time: by goroutines, and by tasks, which tell the pool where
// they block, or do not.
func BenchmarkArchives(b *testing.B) {
	const archives, blocks = 4, 16
	block := make([]byte, 0, 128<<10)
	for i := 0; len(block) < cap(block)-40; i++ {
		block = fmt.Appendf(block, "line %d of a log, %x\n", i, i*i)
	}
	call := func(f func()) { f() }
	check := func(b *testing.B, size int, err error) {
		if size == 0 || err != nil {
			b.Errorf("%d bytes, %v", size, err)
		}
	}
	b.Run("goroutines", func(b *testing.B) {
		for b.Loop() {
			var wg sync.WaitGroup
			for range archives {
				wg.Go(func() {
					size, err := archive(blocks, block, func(f func()) { go f() }, call)
					check(b, size, err)
				})
			}
			wg.Wait()
		}
	})
	for _, kind := range []struct {
		name string
		wait func(ctx context.Context, w *filch.Worker) func(f func())
	}{
		{"context", func(ctx context.Context, _ *filch.Worker) func(f func()) {
			return func(f func()) { filch.Blocking(ctx, f) }
		}},
		{"worker", func(_ context.Context, w *filch.Worker) func(f func()) { return w.Blocking }},
		{"untold", func(context.Context, *filch.Worker) func(f func()) { return call }},
	} {
		b.Run("tasks/"+kind.name, func(b *testing.B) {
			p := filch.New()
			defer p.Close()
			for b.Loop() {
				g := p.Group(context.Background())
				for range archives {
					g.Go(func(ctx context.Context) error {
						start := func(f func()) { p.Go(ctx, func(context.Context) { f() }) }
						filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
							size, err := archive(blocks, block, start, kind.wait(ctx, w))
							check(b, size, err)
						})
						return nil
					})
				}
				if err := g.Wait(); err != nil {
					b.Error("g.Wait():", err)
				}
			}
		})
	}
}
