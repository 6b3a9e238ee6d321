// Wordcount counts the words of all files of a folder, and prints the most frequent: the
// folder is walked in parallel, files are counted in parallel, whatever their sizes, and
// their counts combined in a tree.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// tally is how often words are there, and the first error of reading them.
type tally struct {
	counts map[string]*int
	err    error
}

// count counts the words of a file.
func count(fsys fs.FS, name string) tally {
	b, err := fs.ReadFile(fsys, name)
	t := tally{map[string]*int{}, err}
	for word := range bytes.FieldsFuncSeq(b, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if n := t.counts[string(word)]; n != nil {
			*n++ // without a new string
		} else {
			t.counts[string(word)] = new(1)
		}
	}
	return t
}

// plus returns the sum of a and b, and uses them up.
func plus(a, b tally) tally {
	err := a.err
	if err == nil {
		err = b.err
	}
	if len(a.counts) < len(b.counts) {
		a, b = b, a
	}
	for word, n := range b.counts {
		if m := a.counts[word]; m != nil {
			*m += *n
		} else {
			a.counts[word] = n
		}
	}
	return tally{a.counts, err}
}

// regular adds the name of a regular file to names.
func regular(names *[]string, name string, d fs.DirEntry) {
	if d.Type().IsRegular() {
		*names = append(*names, name)
	}
}

func serial(fsys fs.FS) (total tally, files int, err error) {
	var names []string
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			regular(&names, name, d)
		}
		return err
	})
	total = tally{counts: map[string]*int{}, err: err}
	for _, name := range names {
		total = plus(total, count(fsys, name))
	}
	return total, len(names), total.err
}

func parallel(s filch.Scope, fsys fs.FS) (tally, error) {
	var mu sync.Mutex
	var names []string
	err := par.WalkDir(s, fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			regular(&names, name, d)
		}
		return err
	})
	if err != nil {
		return tally{}, err
	}
	total := par.MapReduce(s, names, tally{}, func(name string) tally { return count(fsys, name) }, plus)
	return total, total.err
}

type entry struct {
	word string
	n    int
}

// top returns the k most frequent words.
func top(s filch.Scope, t tally, k int) []entry {
	entries := make([]entry, 0, len(t.counts))
	for word, n := range t.counts {
		entries = append(entries, entry{word, *n})
	}
	return par.SmallestFunc(s, entries, k, func(a, b entry) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.word, b.word)) })
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
	if !maps.EqualFunc(got.counts, want.counts, func(a, b *int) bool { return *a == *b }) {
		return fmt.Errorf("the counts are not those of the serial program")
	}
	for _, e := range top(pool, got, 5) {
		fmt.Fprintf(out, "%8d %s\n", e.n, e.word)
	}
	words := 0
	for _, n := range got.counts {
		words += *n
	}
	fmt.Fprintf(out, "%d words in %d files: serial %v, in parallel %v, %.2f times as fast\n", words, files, alone, took, float64(alone)/float64(took))
	return nil
}

func main() {
	dir := filepath.Join(build.Default.GOROOT, "src")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(os.Stdout, filch.Default(), os.DirFS(dir)); err != nil {
		fmt.Fprintln(os.Stderr, "wordcount:", err)
		os.Exit(1)
	}
}
