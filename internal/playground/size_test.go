package playground_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// The size that docs/simulator.md has is that of the file.
func TestTheSizeInTheDocumentIsThatOfTheFile(t *testing.T) {
	f, err := os.Open("../../docs/playground/sim.wasm.gz")
	if err != nil {
		t.Fatal("os.Open(…):", err)
	}
	defer f.Close()
	packed, err := f.Stat()
	if err != nil {
		t.Fatal("f.Stat():", err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal("gzip.NewReader(f):", err)
	}
	unpacked, err := io.Copy(io.Discard, z)
	if err != nil {
		t.Fatal("io.Copy(io.Discard, z):", err)
	}
	doc, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/simulator.md"):`, err)
	}
	if want := fmt.Sprintf("WebAssembly of %.1f MB, unpacked %.0f MB.", float64(packed.Size())/1e6, float64(unpacked)/1e6); !strings.Contains(string(doc), want) {
		t.Errorf("docs/simulator.md does not have %q", want)
	}
}
