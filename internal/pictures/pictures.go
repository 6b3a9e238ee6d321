// Command pictures draws the pictures of docs/pictures and fills in the tables of figures in docs, from
// the figures that docs/bench and docs/pictures keep and from the code itself.
//
//	go run ./internal/pictures             # draw and fill in
//	go run ./internal/pictures -measure    # measure first what is measured for pictures alone
//	go run ./internal/pictures -sheet FILE # and write a page with all pictures, on light and on dark ground
//
// The charts of a report of filch bench are drawn by that; see docs/performance.md. These here are the
// pictures that explain. A test checks that the files are what the command writes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("C", ".", "the root of the repository")
	again := flag.Bool("measure", false, "measure what is measured for pictures alone")
	sheetFile := flag.String("sheet", "", "`file` to write a page with all pictures to, in both themes")
	flag.Parse()
	if *again {
		if err := measure(*dir); err != nil {
			log.Fatal("pictures: ", err)
		}
	}
	files, err := write(*dir)
	if err != nil {
		log.Fatal("pictures: ", err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(*dir, name), b, 0o666); err != nil {
			log.Fatal("pictures: ", err)
		}
	}
	if *sheetFile != "" {
		if err := writeSheet(*dir, *sheetFile); err != nil {
			log.Fatal("pictures: ", err)
		}
	}
}

// A picture is drawn into a canvas.
type picture struct {
	name string // of the file, without .svg
	draw func(c *canvas, k *kept)
}

var pictures = []picture{
	{"film", drawFilm},
	{"kitchen", drawKitchen},
	{"queues", drawQueues},
	{"deque", drawDeque},
	{"worker", drawWorker},
	{"search", drawSearch},
	{"caches", drawCaches},
	{"family", drawFamilies},
	{"steals", drawSteals},
	{"workloads", drawWorkloads},
	{"choose", drawChoice},
	{"contention", drawContention},
}

// write returns the files that the command writes, by their paths from the root of the repository dir.
func write(dir string) (files map[string][]byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, ok := r.(missing)
			if !ok {
				panic(r)
			}
			files, err = nil, errors.New(string(m))
		}
	}()
	k := keptIn(dir)
	files = map[string][]byte{}
	for _, p := range pictures {
		files[filepath.Join("docs", "pictures", p.name+".svg")] = p.canvas(k).svg()
	}
	for _, name := range filled {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		text, err := fill(string(b), k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = []byte(text)
	}
	return files, nil
}

// canvas draws the picture.
func (p picture) canvas(k *kept) *canvas {
	c := &canvas{}
	p.draw(c, k)
	return c
}
