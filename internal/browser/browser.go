// Package browser lets tests drive pages in Chromium, by scripts for Node. Such tests are thorough ones: see package thorough.
package browser

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shared are what all scripts have: drive.mjs, and what package-lock.json says of packages.
//
//go:embed drive.mjs package.json package-lock.json
var shared embed.FS

// Drive runs page.mjs of a folder, which may import drive.mjs, with the arguments, a folder for screenshots and the path of
// Chromium. A line of its output begins with "pass" or "fail" for a step, with "note", or with
// "ask" and what the script wants done; ask does it, and the script is told so. Drive returns how many steps have passed.
func Drive(t *testing.T, dir string, ask func(what string), args ...string) (steps int) {
	t.Helper()
	chromium, node := Need(t)
	shots, err := filepath.Abs(filepath.Join(dir, "shots"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, append(append([]string{"page.mjs"}, args...), shots, chromium)...)
	cmd.Dir, cmd.Stderr = installed(t, dir), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch what, text, _ := strings.Cut(lines.Text(), " "); what {
		case "ask":
			ask(text)
			fmt.Fprintln(in, "done", text)
		case "fail":
			t.Error(strings.ReplaceAll(text, " | ", "\n"))
		case "pass":
			steps++
			t.Log(text)
		default:
			t.Log(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after %d steps: %v", steps, err)
	}
	return steps
}

// Need returns the commands, and fails without them.
func Need(t *testing.T) (chromium, node string) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	node, err := exec.LookPath("node")
	if _, npm := exec.LookPath("npm"); chromium == "" || err != nil || npm != nil {
		t.Fatal("Chromium, Node or npm is missing. In Debian: apt-get install chromium nodejs npm")
	}
	return chromium, node
}

// installed returns a folder with the script and drive.mjs, below one with the packages. Both stay in the cache of the user.
func installed(t *testing.T, from string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(from, "page.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	packages := filepath.Join(cache, "filch-browser-"+sum(read(t, "package-lock.json")))
	dir := filepath.Join(packages, sum(script, read(t, "drive.mjs")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{
		filepath.Join(packages, "package.json"): read(t, "package.json"), filepath.Join(packages, "package-lock.json"): read(t, "package-lock.json"),
		filepath.Join(dir, "page.mjs"): script, filepath.Join(dir, "drive.mjs"): read(t, "drive.mjs"),
	} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(packages, "node_modules/.package-lock.json")); errors.Is(err, fs.ErrNotExist) {
		install(t, packages)
	}
	return dir
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := shared.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sum returns a name for what is in files.
func sum(files ...[]byte) string {
	h := sha256.New()
	for _, b := range files {
		fmt.Fprintln(h, len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func install(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, b)
	}
}

// CheckFiles checks that no file of a page has a script or a style in its text, or needs anything from elsewhere.
func CheckFiles(t *testing.T, files fs.FS) {
	t.Helper()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "uplot") {
			return err
		}
		text, err := fs.ReadFile(files, path)
		for _, bad := range []string{"https://", "http://", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "onclick=", "javascript:"} {
			if strings.Contains(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""), bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whole reports whether the checks in a browser run whole: with FILCH_BROWSER, as .ci/run site sets it, and in the long form. Others take a
// sample.
func Whole() bool { return os.Getenv("FILCH_BROWSER") != "" || os.Getenv("FILCH_LONG") != "" }
