// Wordcount counts the words of all files of a folder, and prints the most frequent: the
// folder is walked in parallel, files are counted in parallel, whatever their sizes, and
// counts are combined as they come.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"unicode"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

type counts map[string]*int

// count counts the words of a file, and of one that cannot be read, none.
func count(fsys fs.FS, name string) counts {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil
	}
	c := counts{}
	for word := range bytes.FieldsFuncSeq(b, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if n := c[string(word)]; n != nil {
			*n++ // without a new string
		} else {
			c[string(word)] = new(1)
		}
	}
	return c
}

// plus adds the smaller to the larger.
func plus(a, b counts) counts {
	if len(a) < len(b) {
		a, b = b, a
	}
	for word, n := range b {
		if m := a[word]; m != nil {
			*m += *n
		} else {
			a[word] = n
		}
	}
	return a
}

func serial(fsys fs.FS) (total counts, files int, err error) {
	total = counts{}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
			total = plus(total, count(fsys, name))
		}
		return err
	})
	return total, files, err
}

func parallel(s filch.Scope, fsys fs.FS) (counts, error) {
	var mu sync.Mutex
	var names []string
	err := par.WalkDir(s, fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			mu.Lock()
			defer mu.Unlock()
			names = append(names, name)
		}
		return err
	})
	total := par.MapReduce(s, names, counts{}, func(name string) counts { return count(fsys, name) }, plus)
	return total, err
}

type entry struct {
	word string
	n    int
}

// top returns the k most frequent words.
func top(s filch.Scope, c counts, k int) []entry {
	entries := make([]entry, 0, len(c))
	for word, n := range c {
		entries = append(entries, entry{word, *n})
	}
	return par.TopK(s, entries, k, func(a, b entry) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.word, b.word)) })
}

func run(out io.Writer, pool *filch.Pool, fsys fs.FS) error {
	if _, _, err := serial(fsys); err != nil { // so that all is in the system's cache
		return err
	}
	begin := time.Now()
	want, files, err := serial(fsys)
	if err != nil {
		return err
	}
	alone := time.Since(begin)

	begin = time.Now()
	got, err := parallel(pool, fsys)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if !maps.EqualFunc(got, want, func(a, b *int) bool { return *a == *b }) {
		return fmt.Errorf("the counts are not those of the serial program")
	}
	for _, e := range top(pool, got, 5) {
		fmt.Fprintf(out, "%8d %s\n", e.n, e.word)
	}
	words := 0
	for _, n := range got {
		words += *n
	}
	fmt.Fprintf(out, "%d words in %d files: serial %v, in parallel %v, %.2f times as fast\n", words, files, alone, took, float64(alone)/float64(took))
	return nil
}

func main() {
	dir := filepath.Join(runtime.GOROOT(), "src")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(os.Stdout, filch.Default(), os.DirFS(dir)); err != nil {
		fmt.Fprintln(os.Stderr, "wordcount:", err)
		os.Exit(1)
	}
}
