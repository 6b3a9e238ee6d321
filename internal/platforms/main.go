// Command platforms checks the types of packages and of their tests, as other platforms see them.
//
//	go run ./internal/platforms windows/arm64,darwin/amd64 ./...
//
// go vet does that too, and compiles all that they import for each platform: minutes, where there is nothing in the
// cache. Here imports are read for their declarations alone: seconds.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: platforms GOOS/GOARCH,... packages...")
		os.Exit(2)
	}
	status := 0
	for platform := range strings.SplitSeq(os.Args[1], ",") {
		if err := check(platform, os.Args[2:]...); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			status = 1
		}
	}
	os.Exit(status)
}

// listed is what go list says of a package.
type listed struct {
	Dir        string
	ImportPath string // "p [p.test]" is p with its tests
	GoFiles    []string
	ImportMap  map[string]string // from what is written to what is meant, where they differ
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

// own reports whether the package is one of those to check.
func (p *listed) own() bool { return p.Module != nil && p.Module.Main }

// check returns the first mistakes in the types of packages on a platform.
func check(platform string, packages ...string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok || types.SizesFor("gc", processor) == nil {
		return fmt.Errorf("%q is no GOOS/GOARCH", platform)
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-test", "-json=Dir,ImportPath,GoFiles,ImportMap,Module"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%v: %w", cmd, err)
	}
	c := &checker{processor: processor, files: token.NewFileSet(), have: map[string]*types.Package{"unsafe": types.Unsafe}}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; { // what a package imports comes before it
		p := new(listed)
		if err := dec.Decode(p); err == io.EOF {
			return errors.Join(c.mistakes...)
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter is generated
			continue
		}
		if err := c.add(p); err != nil {
			return err
		}
	}
}

type checker struct {
	processor string
	files     *token.FileSet
	have      map[string]*types.Package
	mistakes  []error
}

// note keeps a mistake. A package with its tests has those of the package once more.
func (c *checker) note(err error) {
	if !slices.ContainsFunc(c.mistakes, func(e error) bool { return e.Error() == err.Error() }) {
		c.mistakes = append(c.mistakes, err)
	}
}

// add checks a package whose imports were added before.
func (c *checker) add(p *listed) error {
	parsed, errs := make([]*ast.File, len(p.GoFiles)), make([]error, len(p.GoFiles))
	var wg sync.WaitGroup
	for i, name := range p.GoFiles {
		wg.Go(func() {
			parsed[i], errs[i] = parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	conf := types.Config{
		Importer:         imports{c, p.ImportMap},
		Sizes:            types.SizesFor("gc", c.processor),
		IgnoreFuncBodies: !p.own(),
		Error:            c.note,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ := conf.Check(path, c.files, parsed, nil) // Error has heard of all mistakes
	c.have[p.ImportPath] = pkg
	return nil
}

// imports finds what the files of a package import.
type imports struct {
	*checker
	meant map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if meant, ok := i.meant[path]; ok {
		path = meant
	}
	if pkg := i.have[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("go list did not list %s", path)
}
