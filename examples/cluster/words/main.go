// Words counts the words of the files of a folder, and prints the most frequent, on three processes that form a
// cluster. A task is some files; its process counts them in parallel, and sends one sum of all.
//
//	go run . [-top 10] [-files '*.go'] [folder]
//
// The folder is that of Go's own source if none is given. All processes have to see it by the same name.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/examples/cluster/three"
	"github.com/filch-go/filch/par"
)

// bytesOfTask is how large the files of one task are together, unless it is one file. The sum of their words has to fit
// into a message of the server, which is 1 MiB by default.
const bytesOfTask = 256 << 10

// sum are words of some files.
type sum struct {
	Words map[string]int
	By    map[string]int // how many tasks, by node
	Files int
}

// count counts the words of a file, and adds them to words.
func count(words map[string]int, file string) error {
	b, err := os.ReadFile(file)
	for word := range bytes.FieldsFuncSeq(b, func(r rune) bool { return !unicode.IsLetter(r) }) {
		words[string(word)]++
	}
	return err
}

// counted is the words of some files, or why they cannot be read.
type counted struct {
	words map[string]int
	err   error
}

// plus adds b to a.
func plus(a, b map[string]int) map[string]int {
	if len(a) < len(b) {
		a, b = b, a
	}
	for word, n := range b {
		a[word] += n
	}
	return a
}

// countFiles counts the words of some files in parallel.
func countFiles(s filch.Scope, files []string) (map[string]int, error) {
	all := par.MapReduce(s, files, counted{}, func(file string) counted {
		words := map[string]int{}
		return counted{words, count(words, file)}
	}, func(a, b counted) counted { return counted{plus(a.words, b.words), cmp.Or(a.err, b.err)} })
	return all.words, all.err
}

// tasks yields the regular files below a folder whose names match a pattern, some at a time. err says why not, afterwards.
func tasks(folder, pattern string, err *error) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var files []string
		size := int64(0)
		more := true
		*err = filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if match, err := filepath.Match(pattern, d.Name()); !match {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if size+info.Size() > bytesOfTask && len(files) > 0 {
				if more = yield(files); !more {
					return fs.SkipAll
				}
				files, size = nil, 0
			}
			files, size = append(files, name), size+info.Size()
			return nil
		})
		if *err == nil && more && len(files) > 0 {
			yield(files)
		}
	}
}

// print counts the words of a folder on the cluster, and prints the top ones.
func print(ctx context.Context, out io.Writer, n *cluster.Node, folder, pattern string, top int) error {
	begin := time.Now()
	var unread error
	all, err := cluster.MapReduce(ctx, n, "count", tasks(folder, pattern, &unread), func(a, b sum) sum {
		return sum{plus(a.Words, b.Words), plus(a.By, b.By), a.Files + b.Files}
	})
	if err := cmp.Or(err, unread); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d files in %v\n", all.Files, time.Since(begin).Round(time.Millisecond))
	for _, node := range slices.Sorted(maps.Keys(all.By)) {
		fmt.Fprintf(out, "%s counted in %d tasks\n", node, all.By[node])
	}
	words := slices.SortedFunc(maps.Keys(all.Words), func(a, b string) int {
		return cmp.Or(cmp.Compare(all.Words[b], all.Words[a]), cmp.Compare(a, b))
	})
	for _, word := range words[:min(top, len(words))] {
		fmt.Fprintf(out, "%8d %s\n", all.Words[word], word)
	}
	return nil
}

func main() {
	top := flag.Int("top", 10, "how many words to print")
	pattern := flag.String("files", "*.go", "which files to count")
	flag.Parse()
	folder := filepath.Join(build.Default.GOROOT, "src")
	if flag.NArg() > 0 {
		folder = flag.Arg(0)
	}
	handle := func(n *cluster.Node) {
		cluster.Handle(n, "count", func(ctx context.Context, files []string) (sum, error) {
			words, err := countFiles(filch.ScopeOf(ctx), files)
			return sum{words, map[string]int{n.Name(): 1}, len(files)}, err
		})
	}
	err := three.Run(context.Background(), handle, func(ctx context.Context, n *cluster.Node) error {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return err
		}
		return print(ctx, os.Stdout, n, folder, *pattern, max(*top, 0))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}
