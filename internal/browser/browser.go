// Package browser lets tests drive pages in Chromium, by scripts for Node. A test that needs it is skipped where
// Chromium, Node or npm is missing, unless FILCH_BROWSER=1.
package browser

import (
	"bufio"
	"crypto/sha256"
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

// Drive runs page.mjs of a folder, which requires what its package-lock.json has, with the arguments, a folder for
// screenshots and the path of Chromium. A line of its output begins with "pass" or "fail" for a step, with "note", or with
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

// must reports whether it is an error that something is missing.
func must() bool { return os.Getenv("FILCH_BROWSER") == "1" }

// Need returns the commands, or skips the test.
func Need(t *testing.T) (chromium, node string) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	node, err := exec.LookPath("node")
	_, npm := exec.LookPath("npm")
	if chromium != "" && err == nil && npm == nil {
		return chromium, node
	}
	if must() {
		t.Fatal("FILCH_BROWSER=1, but Chromium, Node or npm is missing. In Debian: apt-get install chromium nodejs npm")
	}
	t.Skip("the page is not tested in a browser: Chromium, Node or npm is missing; FILCH_BROWSER=1 makes that an error")
	return "", ""
}

// installed returns a folder with the script and what it requires, which stays in the cache of the user.
func installed(t *testing.T, from string) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "filch-browser-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "page.mjs"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules/.package-lock.json")); errors.Is(err, fs.ErrNotExist) {
		install(t, dir)
	}
	return dir
}

func install(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	if err != nil && must() {
		t.Fatalf("npm ci: %v\n%s", err, b)
	}
	if err != nil {
		t.Skipf("the page is not tested in a browser: npm ci: %v", err)
	}
}
