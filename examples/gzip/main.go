// Gzip compresses a file, or what it makes up, as blocks side by side: each is a member of a gzip
// file (RFC 1952, 2.2), which gunzip reads as one. The blocks go through a par.Stream: they
// are read one after the other, compressed by all workers, and written in their order, with
// no more than a few under way at a time.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

const blockSize = 1 << 18

// eachBlock calls f with what r has, in blocks: one at least, for a gzip file has a member.
func eachBlock(r io.Reader, f func(b []byte) error) error {
	for first := true; ; first = false {
		b := make([]byte, blockSize)
		n, end := io.ReadFull(r, b)
		if n > 0 || first {
			if err := f(b[:n]); err != nil {
				return err
			}
		}
		if end == io.EOF || end == io.ErrUnexpectedEOF {
			return nil
		}
		if end != nil {
			return end
		}
	}
}

func compress(_ context.Context, b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func serial(w io.Writer, r io.Reader) error {
	return eachBlock(r, func(b []byte) error {
		c, err := compress(context.Background(), b)
		if err != nil {
			return err
		}
		_, err = w.Write(c)
		return err
	})
}

func parallel(p *filch.Pool, w io.Writer, r io.Reader) error {
	s := par.NewStream(context.Background(), p, compress, func(_ context.Context, c []byte) error {
		_, err := w.Write(c)
		return err
	})
	err := eachBlock(r, s.Send)
	return cmp.Or(s.Close(), err)
}

// text makes up so many bytes that can be compressed.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	words := make([][]byte, 2000)
	for i := range words {
		words[i] = make([]byte, 2+r.IntN(9), 12)
		for k := range words[i] {
			words[i][k] = 'a' + byte(r.IntN(26))
		}
		words[i] = append(words[i], ' ')
	}
	b := make([]byte, 0, n+12)
	for len(b) < n {
		b = append(b, words[r.IntN(1+r.IntN(len(words)))]...)
	}
	return b[:n]
}

func run(out io.Writer, pool *filch.Pool, data []byte, file string) error {
	var want, got bytes.Buffer
	begin := time.Now()
	if err := serial(&want, bytes.NewReader(data)); err != nil {
		return err
	}
	alone := time.Since(begin)

	begin = time.Now()
	if err := parallel(pool, &got, bytes.NewReader(data)); err != nil {
		return err
	}
	took := time.Since(begin)
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		return errors.New("the file is not that of the serial program")
	}
	fmt.Fprintf(out, "%d bytes to %d: serial %v, in parallel %v, %.2f times as fast\n", len(data), got.Len(), alone, took, float64(alone)/float64(took))
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // what is there stays
	if err != nil {
		return err
	}
	_, err = f.Write(got.Bytes())
	return errors.Join(err, f.Close())
}

func main() {
	data, file, err := []byte(nil), "", error(nil)
	if len(os.Args) > 1 {
		file = os.Args[1] + ".gz"
		data, err = os.ReadFile(os.Args[1])
	} else {
		data = text(32 << 20)
	}
	if err == nil {
		err = run(os.Stdout, filch.Default(), data, file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gzip:", err)
		os.Exit(1)
	}
}
