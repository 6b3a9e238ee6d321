package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const (
	rootModule = "github.com/filch-go/filch"
	command    = "cmd/filch" // the folder of the module that is released with the root
)

// dependents are the folders of the modules that require the root, each after those that it requires.
var dependents = []string{"cluster", "cluster/embedded", "cluster/clustertest", command, "examples/cluster", "examples/migrate", "plugin/filchotel", "plugin/filchprom", "plugin/filchclusterotel", "plugin/filchclusterprom"}

// repository is a work tree, and a module proxy of files for what is packed of it.
type repository struct {
	root  string
	tmp   string // holds all that is made
	proxy string
	env   []string
}

// newRepository returns the repository in root. Modules that the module cache lacks are
// downloaded if online, else they are missing.
func newRepository(root string, online bool) (*repository, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMODCACHE GOPROXY: %w", err)
	}
	cache, more, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	r := &repository{root: root, tmp: tmp, proxy: filepath.Join(tmp, "proxy")}
	proxies := fileURL(r.proxy) + "," + fileURL(filepath.Join(strings.TrimSpace(cache), "cache", "download"))
	if online {
		proxies += "," + strings.TrimSpace(more)
	}
	// A module cache of its own: no version that is not published may get into another.
	// With GONOPROXY, even "none", Go would look for the command in the cached root alone.
	// With -trimpath, what is compiled does not depend on where that cache is, and is not compiled
	// again when nothing has changed.
	r.env = append(os.Environ(), "GOENV=off", "GOWORK=off", "GOPROXY="+proxies, "GOSUMDB=off", "GONOPROXY=", "GOPRIVATE=",
		"GOTOOLCHAIN=local", "GOFLAGS=-modcacherw -trimpath", "GOMODCACHE="+filepath.Join(tmp, "mod"), "GOBIN="+filepath.Join(tmp, "bin"))
	return r, nil
}

func (r *repository) close() { os.RemoveAll(r.tmp) }

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a volume of Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// in runs a command in a folder, which is one of the repository unless its path is absolute.
func (r *repository) in(dir string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, r.env
	if !filepath.IsAbs(dir) {
		cmd.Dir = filepath.Join(r.root, dir)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s: %s: %w\n%s", dir, strings.Join(append([]string{name}, args...), " "), err, out)
	}
	return out, nil
}

// prepare makes all modules require the version of the root and of one another, with the checksums of what
// they require as it is now.
func (r *repository) prepare(version string) error {
	if err := edit(filepath.Join(r.root, "go.work"), replaced, "${1}"+version+"${3}"); err != nil {
		return err
	}
	if err := r.pack(".", version); err != nil {
		return err
	}
	for _, dir := range dependents {
		own, err := r.required(dir)
		if err != nil {
			return err
		}
		edit, get := []string{"mod", "edit"}, []string{"get"}
		for _, module := range slices.Sorted(maps.Keys(own)) {
			edit = append(edit, "-require="+module+"@"+version)
			get = append(get, module+"@"+version)
		}
		if _, err := r.in(dir, "go", edit...); err != nil {
			return err
		}
		if err := r.forget(dir); err != nil {
			return err
		}
		if _, err := r.in(dir, "go", get...); err != nil {
			return err
		}
		if err := r.pack(dir, version); err != nil {
			return err
		}
	}
	return nil
}

// tidy runs go mod tidy in the modules that require the root, with the root and one another as they are now.
// Their checksums are left to prepare.
func (r *repository) tidy() error {
	for _, dir := range dependents {
		own, err := r.required(dir)
		if err != nil {
			return err
		}
		version := own[rootModule]
		if err := r.pack(".", version); err != nil {
			return err
		}
		if err := r.forget(dir); err != nil {
			return err
		}
		_, err = r.in(dir, "go", "mod", "tidy")
		if err := errors.Join(err, r.forget(dir)); err != nil {
			return err
		}
		if err := r.pack(dir, version); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the checksums of our modules from a module: those of one that has changed
// would not match.
func (r *repository) forget(dir string) error {
	err := edit(filepath.Join(r.root, dir, "go.sum"), ownSums, "")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

var (
	replaced = regexp.MustCompile(`(?m)^(replace ` + regexp.QuoteMeta(rootModule) + `\S* )(\S+)( => \./\S*)$`)
	ownSums  = regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(rootModule) + `[ /].*\n`)
)

// edit replaces what matches in a file.
func edit(file string, what *regexp.Regexp, by string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := what.ReplaceAll(old, []byte(by))
	if bytes.Equal(text, old) {
		return nil
	}
	return os.WriteFile(file, text, 0o644)
}

// check finds what would keep the commit that is checked out from being released.
func (r *repository) check(version string) error {
	if changes, err := r.in(".", "git", "status", "--porcelain"); err != nil || len(changes) > 0 {
		return errors.Join(err, fmt.Errorf("what is released is a commit, and there are changes:\n%s", changes))
	}
	if err := r.consistent(version); err != nil {
		return err
	}
	if err := r.pack(".", version); err != nil {
		return err
	}
	for _, dir := range dependents {
		if _, err := r.in(dir, "go", "vet", "-mod=readonly", "./..."); err != nil {
			return fmt.Errorf("checksums may be those of another commit; prepare writes them: %w", err)
		}
		if err := r.pack(dir, version); err != nil {
			return err
		}
	}
	return r.install(version)
}

// consistent checks that all modules name the version, and replace nothing.
func (r *repository) consistent(version string) error {
	for _, dir := range dependents {
		own, err := r.required(dir)
		if err != nil {
			return err
		}
		for module, required := range own {
			if required != version {
				return fmt.Errorf("%s requires %s %s, not %s", dir, module, required, version)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(r.root, "go.work"))
	if err != nil {
		return err
	}
	lines := replaced.FindAllSubmatch(text, -1)
	for _, line := range lines {
		if string(line[2]) != version {
			return fmt.Errorf("go.work replaces %q, not %s", line[0], version)
		}
	}
	if len(lines) == 0 {
		return errors.New("go.work replaces nothing")
	}
	return nil
}

// required returns the versions of our modules that the module in dir requires. It is an error
// if the module replaces anything: then it cannot be installed.
func (r *repository) required(dir string) (versions map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(r.root, dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	versions = map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		switch {
		case len(words) == 0:
		case words[0] == "replace":
			return nil, fmt.Errorf("%s/go.mod: %s: go install refuses a module that replaces another", dir, strings.TrimSpace(line))
		case len(words) >= 2 && words[0] != "module" && (words[0] == rootModule || strings.HasPrefix(words[0], rootModule+"/")):
			versions[words[0]] = words[1]
		}
	}
	if versions[rootModule] == "" {
		return nil, fmt.Errorf("%s/go.mod does not require %s", dir, rootModule)
	}
	return versions, nil
}

// install installs the command from the proxy, by its version and as the latest, and
// runs it.
func (r *repository) install(version string) error {
	for _, dir := range append([]string{"."}, dependents...) {
		if err := r.pack(dir, version); err != nil {
			return err
		}
	}
	name := filepath.Join(r.tmp, "bin", "filch")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, v := range []string{version, "latest"} {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
		if _, err := r.in(r.tmp, "go", "install", rootModule+"/"+command+"@"+v); err != nil {
			return err
		}
		if out, err := r.in(r.tmp, name, "bench", "fib", "--size", "10", "--runs", "1", "--workers", "1"); err != nil || !bytes.Contains(out, []byte("filch-chain")) {
			return errors.Join(err, fmt.Errorf("filch bench fib: %s", out))
		}
		if out, err := r.in(r.tmp, "go", "version", "-m", name); err != nil || !bytes.Contains(out, []byte("\tdep\t"+rootModule+"\t"+version)) {
			return errors.Join(err, fmt.Errorf("the command has not %s of the root:\n%s", version, out))
		}
	}
	return nil
}
