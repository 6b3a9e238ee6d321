package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/thorough"
)

const (
	cells    = 24 // of a thumbnail, across and down
	mostMean = 5  // how far thumbnails may lie apart, of 255, in the mean
	mostCell = 70 // and in one cell: fonts differ

	looked = "testdata/looked.txt" // what the pictures looked like to who looked at them last
)

// All pictures in the documents look alike in Chromium, librsvg and resvg, and as they did when somebody looked at them last. After a change,
// look at the sheet, make pictures-sheet, and run this with FILCH_PICTURES=write. On a dark ground they are dark.
func TestPicturesLookAlikeInAllRenderers(t *testing.T) {
	thorough.Only(t, "renders the pictures by three programs")
	if runtime.GOOS != "linux" {
		t.Skip("fonts are others")
	}
	rsvg := thorough.Tool(t, "rsvg-convert")
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := svgFiles(filepath.Join(docs, "pictures"))
	if err != nil || len(all) < 30 {
		t.Fatalf("%d pictures, %v", len(all), err)
	}
	paths, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	browser.Drive(t, "browser", func(string) {}, string(paths))
	known := readLooked(t)
	var lines []string
	for i, file := range all {
		name, err := filepath.Rel(docs, file)
		if err != nil {
			t.Fatal(err)
		}
		png, err := exec.CommandContext(t.Context(), rsvg, "--width", "760", "--background-color", "white", file).Output()
		if err != nil {
			t.Fatalf("rsvg-convert %s: %v", name, err)
		}
		by := map[string][]byte{"librsvg": thumbnail(t, png)}
		for _, renderer := range []string{"resvg", "light", "dark"} {
			png, err := os.ReadFile(filepath.Join("browser", "shots", fmt.Sprintf("%d-%s.png", i, renderer)))
			if err != nil {
				t.Fatal(err)
			}
			by[renderer] = thumbnail(t, png)
		}
		if mean(by["light"]) < 128 || mean(by["dark"]) > 100 {
			t.Errorf("%s: its mean is %d on a light ground and %d on a dark one", name, mean(by["light"]), mean(by["dark"]))
		}
		for _, renderer := range []string{"resvg", "librsvg"} {
			alike(t, name+": Chromium and "+renderer, by["light"], by[renderer])
		}
		if os.Getenv("FILCH_PICTURES") != "write" {
			alike(t, name+": now and when it was looked at", by["light"], known[name])
		}
		lines = append(lines, name+" "+base64.StdEncoding.EncodeToString(by["light"]))
	}
	if os.Getenv("FILCH_PICTURES") == "write" {
		if err := os.WriteFile(looked, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func readLooked(t *testing.T) map[string][]byte {
	b, err := os.ReadFile(looked)
	if err != nil && os.Getenv("FILCH_PICTURES") != "write" {
		t.Fatal(err)
	}
	known := map[string][]byte{}
	for line := range strings.Lines(string(b)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		thumb, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(thumb) != cells*cells {
			t.Fatalf("%s: %s: %v", looked, name, err)
		}
		known[name] = thumb
	}
	return known
}

// thumbnail returns a small picture of grey cells.
func thumbnail(t *testing.T, png []byte) []byte {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(png))
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bounds()
	thumb := make([]byte, 0, cells*cells)
	for row := range cells {
		for column := range cells {
			sum, n := 0, 0
			for y := b.Min.Y + row*b.Dy()/cells; y < b.Min.Y+(row+1)*b.Dy()/cells; y++ {
				for x := b.Min.X + column*b.Dx()/cells; x < b.Min.X+(column+1)*b.Dx()/cells; x++ {
					r, g, b, _ := m.At(x, y).RGBA()
					sum += int(r+g+b) / 3 >> 8
					n++
				}
			}
			thumb = append(thumb, byte(sum/max(n, 1)))
		}
	}
	return thumb
}

func mean(thumb []byte) (m int) {
	for _, v := range thumb {
		m += int(v)
	}
	return m / len(thumb)
}

// alike checks that two thumbnails hardly differ.
func alike(t *testing.T, what string, a, b []byte) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: there is only one picture", what)
		return
	}
	sum, most := 0, 0
	for i := range a {
		d := max(int(a[i])-int(b[i]), int(b[i])-int(a[i]))
		sum, most = sum+d, max(most, d)
	}
	if sum > mostMean*len(a) || most > mostCell {
		t.Errorf("%s differ: by %.1f of 255 in the mean and %d at most", what, float64(sum)/float64(len(a)), most)
	}
}
