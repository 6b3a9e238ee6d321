// Filter sharpens all PNGs of a folder, or some that it draws: a pipeline that reads and
// writes one file at a time, and decodes, filters and encodes as many as there are
// workers. Within one image, tiles are filtered in parallel as well, so that a few large
// ones keep all workers busy.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// picture draws waves and noise.
func picture(side int, seed uint64) *image.NRGBA {
	r := rand.New(rand.NewPCG(seed, 0))
	a, b := 0.1+r.Float64()/5, 0.1+r.Float64()/5
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			v := 128 + 60*math.Sin(a*float64(x)) + 60*math.Sin(b*float64(y)) + 8*r.Float64()
			img.SetNRGBA(x, y, color.NRGBA{uint8(v), uint8(255 - v), uint8(x ^ y), 255})
		}
	}
	return img
}

// sharpen sets a rectangle of dst to src less what is around each pixel.
func sharpen(dst, src *image.NRGBA, x0, y0, x1, y1 int) {
	size := src.Rect.Size()
	at := func(x, y, c int) int {
		x, y = min(max(x, 0), size.X-1), min(max(y, 0), size.Y-1)
		return int(src.Pix[y*src.Stride+4*x+c])
	}
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			to := dst.Pix[y*dst.Stride+4*x:][:4]
			for c := range 3 {
				v := 5*at(x, y, c) - at(x-1, y, c) - at(x+1, y, c) - at(x, y-1, c) - at(x, y+1, c)
				to[c] = uint8(min(max(v, 0), 255))
			}
			to[3] = src.Pix[y*src.Stride+4*x+3]
		}
	}
}

func decode(b []byte) (*image.NRGBA, error) {
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	src := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(src, src.Rect, img, img.Bounds().Min, draw.Src)
	return src, nil
}

func encode(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// serial filters one file after the other, and returns what they come to.
func serial(names []string) (results [][]byte, err error) {
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		src, err := decode(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		dst := image.NewNRGBA(src.Rect)
		sharpen(dst, src, 0, 0, src.Rect.Dx(), src.Rect.Dy())
		if b, err = encode(dst); err != nil {
			return nil, err
		}
		results = append(results, b)
	}
	return results, nil
}

// file is a picture on its way.
type file struct {
	name string
	data []byte
	img  *image.NRGBA
}

// parallel does the same, and hands each result to done, in order.
func parallel(pool *filch.Pool, names []string, done func(name string, data []byte) error) error {
	read := par.Stage(par.From(slices.Values(names)), 1, func(name string) (f file, err error) {
		f.name = name
		f.data, err = os.ReadFile(name)
		return f, err
	})
	decoded := par.Stage(read, 0, func(f file) (file, error) {
		var err error
		if f.img, err = decode(f.data); err != nil {
			return f, fmt.Errorf("%s: %w", f.name, err)
		}
		return f, nil
	})
	sharp := par.StageScope(decoded, 0, func(s filch.Scope, f file) (file, error) {
		dst := image.NewNRGBA(f.img.Rect)
		par.ForTiles(s, dst.Rect.Dx(), dst.Rect.Dy(), func(x0, y0, x1, y1 int) { sharpen(dst, f.img, x0, y0, x1, y1) })
		f.img = dst
		return f, nil
	})
	encoded := par.Stage(sharp, 0, func(f file) (_ file, err error) {
		f.data, err = encode(f.img)
		return f, err
	})
	return encoded.Run(pool, func(f file) error { return done(f.name, f.data) })
}

// drawAll puts so many pictures into a folder.
func drawAll(dir string, pictures, side int) error {
	for i := range pictures {
		b, err := encode(picture(side, uint64(i)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("picture%d.png", i)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run sharpens all pictures of a folder, into a folder within.
func run(out io.Writer, pool *filch.Pool, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".png" {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: there is no .png file", dir)
	}
	begin := time.Now()
	want, err := serial(names)
	if err != nil {
		return err
	}
	alone := time.Since(begin)

	results := filepath.Join(dir, "sharp")
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	n := 0
	begin = time.Now()
	err = parallel(pool, names, func(name string, data []byte) error {
		if n++; !bytes.Equal(data, want[n-1]) {
			return fmt.Errorf("%s is not that of the serial program", name)
		}
		return os.WriteFile(filepath.Join(results, filepath.Base(name)), data, 0o644)
	})
	if err != nil {
		return err
	}
	took := time.Since(begin)
	fmt.Fprintf(out, "%d pictures in %s: serial %v, in parallel %v, %.2f times as fast\n", n, results, alone, took, float64(alone)/float64(took))
	return nil
}

func main() {
	if err := start(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "filter:", err)
		os.Exit(1)
	}
}

// start sharpens the pictures of the folder that is given, or some of its own.
func start(args []string) error {
	if len(args) > 0 {
		return run(os.Stdout, filch.Default(), args[0])
	}
	dir, err := os.MkdirTemp("", "filter")
	if err != nil {
		return err
	}
	if err := drawAll(dir, 8, 800); err != nil {
		return err
	}
	return run(os.Stdout, filch.Default(), dir)
}
