// Command pgo makes default.pgo, the profile that guides the compiler, for programs such as
// the examples: it runs each of them again and again for some seconds, under a CPU profile.
//
//	go run ./internal/pgo examples/kmeans examples/mandelbrot
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// profiled is what the program gets in place of its function main, which is renamed.
const profiled = `package main

import (
	"os"
	"runtime/pprof"
	"time"
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	os.Args = os.Args[:1]
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		program()
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
}
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "pgo: which folders? Each must have a main.go")
		os.Exit(2)
	}
	for _, dir := range os.Args[1:] {
		if err := profile(dir); err != nil {
			fmt.Fprintf(os.Stderr, "pgo: %s: %v\n", dir, err)
			os.Exit(1)
		}
	}
}

// profile makes default.pgo in dir, which has a program.
func profile(dir string) error {
	tmp, err := os.MkdirTemp("", "pgo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	overlay, err := overlayOf(dir, tmp)
	if err != nil {
		return err
	}
	binary, to := filepath.Join(tmp, "program"), filepath.Join(tmp, "default.pgo")
	if err := run(dir, "go", "build", "-pgo=off", "-overlay", overlay, "-o", binary, "."); err != nil {
		return err
	}
	if err := run(tmp, binary, to); err != nil { // what it writes is lost with tmp
		return err
	}
	data, err := os.ReadFile(to)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "default.pgo"), data, 0o644)
}

// overlayOf writes into tmp what replaces main.go of dir, and returns the file that says so.
func overlayOf(dir, tmp string) (string, error) {
	file := filepath.Join(dir, "main.go")
	src, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	const begin = "\nfunc main() {"
	if strings.Count(string(src), begin) != 1 {
		return "", fmt.Errorf("main.go has no function main")
	}
	renamed := strings.Replace(string(src), begin, "\nfunc program() {", 1) // no line moves
	replace := map[string]string{}
	for name, text := range map[string]string{file: renamed, filepath.Join(dir, "profiled.go"): profiled} {
		replace[name] = filepath.Join(tmp, filepath.Base(name))
		if err := os.WriteFile(replace[name], []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(tmp, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o644)
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, out)
	}
	return nil
}
