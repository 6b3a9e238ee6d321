package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/examples/cluster/three/threetest"
)

func TestMain(m *testing.M) { threetest.Main(m, main) }

func TestThreeProcessesDrawOneImage(t *testing.T) {
	const side = 512
	file := filepath.Join(t.TempDir(), "set.png")
	out := threetest.Run(t, "-side", "512", "-o", file)
	total := 0
	for line := range strings.Lines(out) {
		var node string
		var n int
		if _, err := fmt.Sscanf(line, "%s drew %d strips", &node, &n); err == nil {
			total += n
		}
	}
	if total != side/rows {
		t.Errorf("%d strips were drawn, of %d", total, side/rows)
	}
	t.Log(out)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal("os.Open:", err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal("png.Decode:", err)
	}
	if got, ok := img.(*image.Paletted); !ok || !bytes.Equal(got.Pix, draw(filch.Default(), strip{side, 0, side})) {
		t.Error("the image is not that of one process")
	}
}
