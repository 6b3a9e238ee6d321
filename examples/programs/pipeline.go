package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// archive compresses blocks, seals each with the seal of the one before, and writes them in order.
func archive(p *filch.Pool, blocks iter.Seq[[]byte], out io.Writer) error {
	var last seal
	packed := par.Stage(par.From(blocks), 0, compress) // any number of blocks at a time
	sealed := par.Stage(packed, 1, last.add)           // one at a time, in order
	return sealed.Run(p, func(block []byte) error {
		_, err := out.Write(block)
		return err
	})
}

func compress(block []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(block); err != nil {
		return nil, err
	}
	return b.Bytes(), z.Close()
}

// A seal depends on all blocks so far.
type seal [sha256.Size]byte

func (s *seal) add(block []byte) ([]byte, error) {
	*s = sha256.Sum256(append(s[:], block...))
	return append(block, s[:]...), nil
}

func archiveSerial(blocks iter.Seq[[]byte], out io.Writer) error {
	var last seal
	for block := range blocks {
		packed, err := compress(block)
		if err != nil {
			return err
		}
		sealed, err := last.add(packed)
		if err != nil {
			return err
		}
		if _, err := out.Write(sealed); err != nil {
			return err
		}
	}
	return nil
}

// archiveGoroutines keeps the order by a channel of channels. After an error it still takes what is under way.
func archiveGoroutines(blocks iter.Seq[[]byte], out io.Writer) (err error) {
	type packed struct {
		block []byte
		err   error
	}
	inOrder := make(chan chan packed, 2*runtime.GOMAXPROCS(0))
	go func() {
		defer close(inOrder)
		for block := range blocks {
			c := make(chan packed, 1)
			inOrder <- c
			go func() {
				b, err := compress(block)
				c <- packed{b, err}
			}()
		}
	}()
	var last seal
	for c := range inOrder {
		p := <-c
		if err == nil {
			err = p.err
		}
		if err == nil {
			p.block, err = last.add(p.block)
		}
		if err == nil {
			_, err = out.Write(p.block)
		}
	}
	return err
}

func makePipeline(p *filch.Pool, small bool) forms {
	number, size := 40, 32<<10
	if small {
		number, size = 7, 2<<10
	}
	r := rand.New(rand.NewPCG(7, 8))
	var blocks [][]byte
	for range number {
		var b bytes.Buffer
		for b.Len() < size {
			fmt.Fprintf(&b, "worker %d stole %d tasks\n", r.IntN(100), r.IntN(10_000))
		}
		blocks = append(blocks, b.Bytes())
	}
	hashed := func(archive func(out io.Writer) error) form {
		return func() (any, error) {
			h := sha256.New()
			err := archive(h)
			return fmt.Sprintf("%x", h.Sum(nil)), err
		}
	}
	return forms{
		serial:     hashed(func(out io.Writer) error { return archiveSerial(slices.Values(blocks), out) }),
		goroutines: hashed(func(out io.Writer) error { return archiveGoroutines(slices.Values(blocks), out) }),
		filch:      hashed(func(out io.Writer) error { return archive(p, slices.Values(blocks), out) }),
	}
}
