// Tutorial has the programs of docs/tutorial.md, from a serial word count to a service that computes.
//
//	go run ./examples/tutorial                         # the steps, with the *.md files of this folder
//	go run ./examples/tutorial -serve localhost:8080   # the service, until an interrupt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/filch-go/filch"
)

// run takes the steps up to the service, with the *.md files of fsys, and compares what they come to.
func run(ctx context.Context, out io.Writer, pool *filch.Pool, fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return err
	}
	var texts []string
	for _, name := range names {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		texts = append(texts, strings.Split(string(b), "\n")...)
	}
	want := wordsSerial(texts)
	files, err := wordsFiles(ctx, pool, fsys, names).Wait(ctx)
	if err != nil {
		return err
	}
	for _, got := range []map[string]int{wordsHalves(pool, texts), wordsTree.Call(pool, texts), wordsPar(pool, texts), files} {
		if !maps.Equal(got, want) {
			return errors.New("the counts are not those of the serial program")
		}
	}
	fmt.Fprintf(out, "%d lines of %d files have %d different words\n", len(texts), len(names), len(want))
	const n = 10
	ways, err := count(ctx, pool, n)
	if err != nil {
		return err
	}
	if all := queensSerial(emptyBoard(n)); ways != all {
		return fmt.Errorf("%d ways to place %d queens, not %d", ways, n, all)
	}
	fmt.Fprintf(out, "%d ways to place %d queens, such as %v\n\n", ways, n, solve(pool, n))
	return measure(out, 12)
}

// listen serves at addr until an interrupt.
func listen(addr string, pool *filch.Pool) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return serve(ctx, listener, pool, 10*time.Second)
}

func main() {
	addr := flag.String("serve", "", "serve at this `address`")
	flag.Parse()
	pool := filch.New(filch.WithName("tutorial"))
	err := error(nil)
	if *addr != "" {
		err = listen(*addr, pool)
	} else {
		err = run(context.Background(), os.Stdout, pool, os.DirFS("."))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tutorial:", err)
		os.Exit(1)
	}
}
