package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// here returns this repository.
func here(t *testing.T) *repository {
	t.Helper()
	r, err := newRepository("../..", false)
	if err != nil {
		t.Fatal(`newRepository("../..", false):`, err)
	}
	t.Cleanup(r.close)
	if _, err := os.Stat(filepath.Join(r.root, command)); err != nil {
		t.Skip("this is the root module alone: ", err)
	}
	return r
}

// version is that of the root, which all of this repository requires.
func version(t *testing.T, r *repository) string {
	t.Helper()
	v, err := r.required(command)
	if err != nil {
		t.Fatal("r.required(command):", err)
	}
	return v[rootModule]
}

// The modules that require the root agree on its version, and replace nothing.
func TestModulesCanBePublished(t *testing.T) {
	r := here(t)
	if err := r.consistent(version(t, r)); err != nil {
		t.Error("r.consistent(version(t, r)):", err)
	}
}

// go install takes the command from a module proxy, by its version and as the latest.
func TestCommandCanBeInstalled(t *testing.T) {
	thorough.Only(t, "compiles the command twice")
	r := here(t)
	list := exec.Command("go", "list", "-deps", "./"+command)
	list.Dir, list.Env = r.root, append(os.Environ(), "GOPROXY=off")
	if out, err := list.CombinedOutput(); err != nil {
		t.Fatalf("the module cache lacks what the command needs; go mod download all: %v\n%s", err, out)
	}
	if err := r.install(version(t, r)); err != nil {
		t.Error("r.install(version(t, r)):", err)
	}
}

// tree makes a repository out of files.
func tree(t *testing.T, files map[string]string) *repository {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal("os.MkdirAll(filepath.Dir(file), 0o755):", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal("os.WriteFile(file, []byte(text), 0o644):", err)
		}
	}
	r, err := newRepository(root, false)
	if err != nil {
		t.Fatal("newRepository(root, false):", err)
	}
	t.Cleanup(r.close)
	return r
}

func small(t *testing.T) *repository {
	const dependent = "\n\ngo 1.26\n\nrequire " + rootModule + " v0.1.0\n"
	const program = "package main\n\nimport \"" + rootModule + "\"\n\nfunc main() { filch.F() }\n"
	files := map[string]string{
		"LICENSE":                   "all may\n",
		"go.mod":                    "module " + rootModule + "\n\ngo 1.26\n",
		"filch.go":                  "package filch\n\nfunc F() {}\n",
		"internal/x/x.go":           "package x\n",
		"go.work":                   "go 1.26\n\nuse (\n\t.\n\t./cmd/filch\n)\n\n// Why.\nreplace " + rootModule + " v0.1.0 => ./\nreplace " + rootModule + "/cluster v0.1.0 => ./cluster\n",
		"examples/migrate/go.sum":   rootModule + " v0.1.0 h1:of an earlier attempt\n" + rootModule + "/cluster v0.1.0 h1:so too\nexample.org/x v1.0.0 h1:stays=\n",
		"cluster/cluster.go":        "package cluster\n\nfunc F() {}\n",
		"cluster/embedded/other.go": "package main\n\nimport \"" + rootModule + "/cluster\"\n\nfunc init() { cluster.F() }\n",
	}
	for _, dir := range dependents {
		files[dir+"/go.mod"] = "module " + rootModule + "/" + dir + dependent
		files[dir+"/main.go"] = program
	}
	files["cluster/main.go"] = "package cluster\n\nimport \"" + rootModule + "\"\n\nfunc init() { filch.F() }\n"
	files["cluster/embedded/go.mod"] += "require " + rootModule + "/cluster v0.1.0\n"
	return tree(t, files)
}

// After prepare all modules name the version, and those that require the root can be
// compiled without the workspace, as long as the root is what it was.
func TestPrepareWritesVersionsAndChecksums(t *testing.T) {
	thorough.Only(t, "packs modules")
	r := small(t)
	for _, v := range []string{"v0.2.0", "v0.3.0-rc.1"} {
		if err := r.prepare(v); err != nil {
			t.Fatal("r.prepare(v):", err)
		}
		if err := r.consistent(v); err != nil {
			t.Error("r.consistent(v):", err)
		}
		for _, dir := range dependents {
			if _, err := r.in(dir, "go", "vet", "-mod=readonly", "./..."); err != nil {
				t.Error(`r.in(dir, "go", "vet", "-mod=readonly", "./..."):`, err)
			}
		}
	}
	if err := r.consistent("v0.2.0"); err == nil || !strings.Contains(err.Error(), "requires "+rootModule+" v0.3.0-rc.1, not v0.2.0") {
		t.Error(`r.consistent("v0.2.0"):`, err)
	}
	if sums, err := os.ReadFile(filepath.Join(r.root, "examples/migrate/go.sum")); err != nil || !strings.Contains(string(sums), "stays") || strings.Contains(string(sums), "attempt") {
		t.Errorf("os.ReadFile(…): %s, %v", sums, err)
	}

	if err := os.WriteFile(filepath.Join(r.root, "filch.go"), []byte("package filch\n\nfunc F() { F() }\n"), 0o644); err != nil {
		t.Fatal("os.WriteFile(…):", err)
	}
	later, err := newRepository(r.root, false)
	if err != nil {
		t.Fatal("newRepository(r.root, false):", err)
	}
	t.Cleanup(later.close)
	if err := later.pack(".", "v0.3.0-rc.1"); err != nil {
		t.Fatal(`later.pack(".", "v0.3.0-rc.1"):`, err)
	}
	if _, err := later.in(command, "go", "vet", "-mod=readonly", "./..."); err == nil || !strings.Contains(err.Error(), "checksum mismatch") {
		t.Errorf("the root has changed: %v", err)
	}
}

// Tidy works before the root's version is published, and leaves no checksum of it behind.
func TestTidyNeedsNoPublishedVersion(t *testing.T) {
	r := small(t)
	mod := filepath.Join(r.root, command, "go.mod")
	for range 2 {
		if err := edit(mod, regexp.MustCompile(`\z`), "\nrequire "+rootModule+"/examples/migrate v0.1.0\n"); err != nil {
			t.Fatal("edit(mod, regexp.MustCompile(`\\z`), …):", err)
		}
		if err := r.pack("examples/migrate", "v0.1.0"); err != nil {
			t.Fatal(`r.pack("examples/migrate", "v0.1.0"):`, err)
		}
		if err := r.tidy(); err != nil {
			t.Fatal("r.tidy():", err)
		}
	}
	if text, err := os.ReadFile(mod); err != nil || strings.Contains(string(text), "migrate") || !strings.Contains(string(text), rootModule+" v0.1.0") {
		t.Errorf("os.ReadFile(mod): %s, %v", text, err)
	}
	if sums, err := os.ReadFile(filepath.Join(r.root, "examples/migrate/go.sum")); err != nil || strings.Contains(string(sums), rootModule) {
		t.Errorf("os.ReadFile(…): %s, %v", sums, err)
	}
}

// A module that replaces another, or names another version than the workspace, is found.
func TestMistakesAreFound(t *testing.T) {
	for want, change := range map[string][2]string{
		"go install refuses":     {"cmd/filch/go.mod", "module x\n\nrequire " + rootModule + " v0.1.0\n\nreplace " + rootModule + " => ../..\n"},
		"does not require":       {"cmd/filch/go.mod", "module x\n"},
		"requires " + rootModule: {"examples/migrate/go.mod", "module x\n\nrequire (\n\t" + rootModule + " v0.0.9 // indirect\n)\n"},
		"go.work replaces":       {"go.work", "go 1.26\n"},
	} {
		r := small(t)
		if err := os.WriteFile(filepath.Join(r.root, filepath.FromSlash(change[0])), []byte(change[1]), 0o644); err != nil {
			t.Fatal("os.WriteFile(…, []byte(change[1]), 0o644):", err)
		}
		if err := r.consistent("v0.1.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, args := range [][]string{nil, {"check"}, {"publish", "v1.0.0"}, {"tidy", "v1.0.0"}, {"check", "1.0.0"}, {"check", "v1.0"}} {
		if err := run(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// A module is packed with its license, and without the modules below it.
func TestPackedFiles(t *testing.T) {
	r := small(t)
	for dir, want := range map[string][]string{
		".":     {"LICENSE", "filch.go", "go.mod", "go.work", "internal/x/x.go"},
		command: {"go.mod", "main.go", "LICENSE"},
	} {
		if err := r.pack(dir, "v1.2.3"); err != nil {
			t.Fatal(`r.pack(dir, "v1.2.3"):`, err)
		}
		name := rootModule
		if dir != "." {
			name += "/" + dir
		}
		z, err := zip.OpenReader(filepath.Join(r.proxy, filepath.FromSlash(name), "@v", "v1.2.3.zip"))
		if err != nil {
			t.Fatal("zip.OpenReader(…):", err)
		}
		defer z.Close()
		var got []string
		for _, f := range z.File {
			got = append(got, strings.TrimPrefix(f.Name, name+"@v1.2.3/"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
