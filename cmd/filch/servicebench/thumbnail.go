package servicebench

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// A photo is a picture to make thumbnails of: three bytes a pixel, row by row.
type photo struct {
	width, height int
	pixels        []byte
}

// Cost returns what one thumbnail takes here, on one processor.
func Cost() time.Duration {
	p := newPhoto(photoWidth, photoHeight)
	var times []time.Duration
	for range 50 {
		begin := time.Now()
		if _, err := p.thumbnail(nil); err != nil {
			panic(err) // the picture is ours
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

const photoWidth, photoHeight = 1280, 960

// shrink is how many pixels of the photo, across and down, become one of the thumbnail.
const shrink = 4

// newPhoto returns a picture with edges and slopes, so that it is neither trivial nor impossible to compress.
func newPhoto(width, height int) *photo {
	p := &photo{width, height, make([]byte, 3*width*height)}
	for y := range height {
		for x := range width {
			at := p.pixels[3*(y*width+x):]
			at[0], at[1], at[2] = byte(x*255/width), byte(y*255/height), byte((x*x+y*y)>>8)
		}
	}
	return p
}

// row computes a row of the thumbnail.
func (p *photo) row(to *image.RGBA, y int) {
	for x := range to.Rect.Dx() {
		var r, g, b uint32
		for dy := range shrink {
			at := p.pixels[3*((y*shrink+dy)*p.width+x*shrink):][:3*shrink]
			for dx := range shrink {
				r += uint32(at[3*dx])
				g += uint32(at[3*dx+1])
				b += uint32(at[3*dx+2])
			}
		}
		const n = shrink * shrink
		to.SetRGBA(x, y, color.RGBA{byte(r / n), byte(g / n), byte(b / n), 255})
	}
}

// thumbnail returns a thumbnail as a JPEG. If s is not nil, the rows are a loop of par in that scope.
func (p *photo) thumbnail(s filch.Scope) ([]byte, error) {
	to := image.NewRGBA(image.Rect(0, 0, p.width/shrink, p.height/shrink))
	if s == nil {
		for y := range to.Rect.Dy() {
			p.row(to, y)
		}
	} else {
		par.For(s, to.Rect.Dy(), func(y int) { p.row(to, y) })
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, to, nil)
	return out.Bytes(), err
}
