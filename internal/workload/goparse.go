package workload

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

var goparse = &Workload{
	Name:    "goparse",
	About:   "parse every .go file of a folder and count declarations: skewed, and I/O",
	Sizes:   []string{"sample", "all"},
	Default: []Default{{Size: "sample"}},
	Prepare: func(size string, env Env) (*Job, error) {
		every := map[string]int{"sample": 40, "all": 1}[size]
		if every == 0 {
			return nil, fmt.Errorf(`goparse: unknown size %q; there are sample (every fortieth file) and all`, size)
		}
		root := env.Input
		if root == "" {
			out, err := exec.Command("go", "env", "GOROOT").Output()
			if err != nil {
				return nil, fmt.Errorf("goparse: where is the Go installation? go env GOROOT: %w", err)
			}
			root = filepath.Join(strings.TrimSpace(string(out)), "src")
		}
		files, err := goFiles(root)
		if err != nil {
			return nil, fmt.Errorf("goparse: %w", err)
		}
		if every > 1 {
			some := files[:0]
			for i := 0; i < len(files); i += every {
				some = append(some, files[i])
			}
			files = some
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("goparse: %s: no .go file", root)
		}
		decls := make([]atomic.Int64, len(files))
		j := &Job{
			Reset: func() {
				for i := range decls {
					decls[i].Store(0)
				}
			},
			Answer: func() string {
				sum, bad := int64(0), 0
				for i := range decls {
					if n := decls[i].Load(); n < 0 {
						bad++
					} else {
						sum += n
					}
				}
				return fmt.Sprintf("%d declarations in %d files, %d more do not parse", sum, len(files)-bad, bad)
			},
			Note: func(int, time.Duration) string {
				var bad []string
				for i := range decls {
					switch decls[i].Load() {
					case unparsed:
						bad = append(bad, files[i])
					case tooLarge:
						bad = append(bad, fmt.Sprintf("%s (larger than %d bytes)", files[i], maxSource))
					}
				}
				if bad == nil {
					return ""
				}
				return fmt.Sprintf("%d of %d files do not parse: %s", len(bad), len(files), strings.Join(bad, ", "))
			},
		}
		for i, file := range files {
			j.Tasks = append(j.Tasks, func() { decls[i].Store(countDecls(file)) })
		}
		j.Serial = j.runTasks
		return j, nil
	},
}

// goFiles returns the regular .go files below root, sorted.
func goFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// maxSource is how many bytes a file may have. The syntax tree takes 4 to 8 times as
// much memory, and each worker has a file at a time. Go's own largest file has 3 MB.
const maxSource = 16 << 20

// What stands in for the number of declarations of a file that has no such number.
const (
	unparsed = -1 // it cannot be read or parsed
	tooLarge = -2 // it has more than maxSource bytes
)

// countDecls returns the number of declarations at the top level of a file, or
// unparsed, or tooLarge.
func countDecls(file string) int64 {
	src, err := readSource(file)
	switch {
	case err != nil:
		return unparsed
	case len(src) > maxSource:
		return tooLarge
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		return unparsed
	}
	n := int64(0)
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			n += int64(len(g.Specs))
		} else {
			n++
		}
	}
	return n
}

// readSource reads a file, but no more of it than one byte beyond maxSource. The size
// that the folder says is only where it begins: the file may be growing.
func readSource(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var src bytes.Buffer
	src.Grow(int(min(info.Size(), maxSource)) + bytes.MinRead)
	_, err = src.ReadFrom(io.LimitReader(f, maxSource+1))
	return src.Bytes(), err
}
