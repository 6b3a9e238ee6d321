// Mandelbrot draws a large Mandelbrot set into a PNG, on three processes that form a cluster. A task is a strip of the
// image; its process divides the strip into tiles among its workers; and the strips are put together in order.
//
//	go run . [-side 4096] [-o mandelbrot.png]
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/examples/cluster/three"
	"github.com/filch-go/filch/par"
)

const (
	limit = 1000 // iterations
	rows  = 32   // of a strip
)

// strip is some rows of an image of side times side pixels.
type strip struct{ Side, From, To int }

// drawn are strips that were drawn.
type drawn struct {
	Pixels []byte         // from the left, and from above
	By     map[string]int // how many strips, by node
}

// escape returns after how many iterations c is known not to be in the set, or limit.
func escape(c complex128) int {
	z := complex(0, 0)
	for i := range limit {
		if real(z)*real(z)+imag(z)*imag(z) > 4 {
			return i
		}
		z = z*z + c
	}
	return limit
}

// draw draws a strip.
func draw(s filch.Scope, t strip) []byte {
	pixels := make([]byte, t.Side*(t.To-t.From))
	par.ForTiles(s, t.Side, t.To-t.From, func(x0, y0, x1, y1 int) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				c := complex(2.5*float64(x)/float64(t.Side)-2, 2.5*float64(t.From+y)/float64(t.Side)-1.25)
				if n := escape(c); n < limit {
					pixels[y*t.Side+x] = uint8(1 + n%255)
				}
			}
		}
	})
	return pixels
}

// strips are those of an image.
func strips(side int) iter.Seq[strip] {
	return func(yield func(strip) bool) {
		for y := 0; y < side; y += rows {
			if !yield(strip{side, y, min(y+rows, side)}) {
				return
			}
		}
	}
}

// below puts b below a, and uses both up.
func below(a, b drawn) drawn {
	a.Pixels = append(a.Pixels, b.Pixels...)
	for node, n := range b.By {
		a.By[node] += n
	}
	return a
}

// palette is black, for what is inside, and then goes around.
func palette() color.Palette {
	p := color.Palette{color.Black}
	for i := range 255 {
		p = append(p, color.RGBA{uint8(9 * i), uint8(5 * i), uint8(255 - i), 255})
	}
	return p
}

// write writes an image into a file.
func write(side int, pixels []byte, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	img := &image.Paletted{Pix: pixels, Stride: side, Rect: image.Rect(0, 0, side, side), Palette: palette()}
	if err := png.Encode(f, img); err != nil {
		return err
	}
	return f.Close()
}

// render draws an image on the cluster.
func render(ctx context.Context, out io.Writer, n *cluster.Node, side int, file string) error {
	begin := time.Now()
	all, err := cluster.MapReduce(ctx, n, "draw", strips(side), below)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d x %d pixels in %v\n", side, side, time.Since(begin).Round(time.Millisecond))
	for _, node := range slices.Sorted(maps.Keys(all.By)) {
		fmt.Fprintf(out, "%s drew %d strips\n", node, all.By[node])
	}
	return write(side, all.Pixels, file)
}

func main() {
	side := flag.Int("side", 4096, "width and height in pixels")
	file := flag.String("o", "mandelbrot.png", "file to write")
	flag.Parse()
	if *side < 1 || *side > 1<<14 {
		fmt.Fprintln(os.Stderr, "mandelbrot: -side is 1 to 16384")
		os.Exit(2)
	}
	handle := func(n *cluster.Node) {
		cluster.Handle(n, "draw", func(ctx context.Context, t strip) (drawn, error) {
			return drawn{draw(filch.ScopeOf(ctx), t), map[string]int{n.Name(): 1}}, nil
		})
	}
	err := three.Run(context.Background(), handle, func(ctx context.Context, n *cluster.Node) error {
		return render(ctx, os.Stdout, n, *side, *file)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "mandelbrot:", err)
		os.Exit(1)
	}
}
