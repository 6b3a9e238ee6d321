// Mandelbrot draws the Mandelbrot set into a PNG, by tiles: those inside of the set take
// a thousand times as long as those far from it, so cutting the image into one part for
// each processor would leave most of them idle.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

const limit = 1000 // iterations

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

// draw draws a rectangle of img, all of which shows the set from -2-1.25i to 0.5+1.25i.
func draw(img *image.Paletted, x0, y0, x1, y1 int) {
	size := img.Bounds().Size()
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			c := complex(2.5*float64(x)/float64(size.X)-2, 2.5*float64(y)/float64(size.Y)-1.25)
			if n := escape(c); n < limit {
				img.SetColorIndex(x, y, uint8(1+n%255))
			}
		}
	}
}

// palette is black, for what is inside, and then goes around.
func palette() color.Palette {
	p := color.Palette{color.Black}
	for i := range 255 {
		p = append(p, color.RGBA{uint8(9 * i), uint8(5 * i), uint8(255 - i), 255})
	}
	return p
}

func run(out io.Writer, pool *filch.Pool, side int, file string) error {
	serial := image.NewPaletted(image.Rect(0, 0, side, side), palette())
	begin := time.Now()
	draw(serial, 0, 0, side, side)
	alone := time.Since(begin)

	img := image.NewPaletted(serial.Rect, serial.Palette)
	begin = time.Now()
	par.ForTiles(pool, side, side, func(x0, y0, x1, y1 int) { draw(img, x0, y0, x1, y1) })
	took := time.Since(begin)
	if !bytes.Equal(img.Pix, serial.Pix) {
		return fmt.Errorf("the image is not that of the serial program")
	}
	fmt.Fprintf(out, "%d x %d pixels: serial %v, in parallel %v, %.2f times as fast\n", side, side, alone, took, float64(alone)/float64(took))

	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(out, file)
	return nil
}

func main() {
	file := "mandelbrot.png"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	if err := run(os.Stdout, filch.Default(), 2000, file); err != nil {
		fmt.Fprintln(os.Stderr, "mandelbrot:", err)
		os.Exit(1)
	}
}
