package workload

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
					if decls[i].Load() < 0 {
						bad = append(bad, files[i])
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

// countDecls returns the number of declarations at the top level of a file, or
// -1 if it cannot be read or parsed.
func countDecls(file string) int64 {
	src, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		return -1
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
