package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{0, 1, blockSize, 5*blockSize + 7} {
		file := filepath.Join(t.TempDir(), "text.gz")
		data := text(n)
		var out strings.Builder
		if err := run(&out, p, data, file); err != nil {
			t.Fatal("run(&out, p, data, file):", err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal("os.ReadFile(file):", err)
		}
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal("gzip.NewReader(bytes.NewReader(b)):", err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// An error of the reader or the writer is not lost.
func TestErrorsOfTheReaderAndTheWriterAreNotLost(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	bad := errors.New("bad disk")
	if err := parallel(p, io.Discard, io.MultiReader(bytes.NewReader(text(3*blockSize)), iotest.ErrReader(bad))); !errors.Is(err, bad) {
		t.Error("parallel(p, io.Discard, …):", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(bad)
	if err := parallel(p, w, bytes.NewReader(text(3*blockSize))); !errors.Is(err, bad) {
		t.Error("parallel(p, w, …):", err)
	}
}
