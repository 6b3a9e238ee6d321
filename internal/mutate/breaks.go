package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// breaks.txt lists breaks: mutants made by hand. Each takes away one thing that tests are about, and each
// of the tests that it names must notice. An entry has the form of those of equivalents.txt, but names
// these tests in place of a reason. A test of another package than that of the file has the package in
// front of it, as in "test/tasks:TestAfterAFailure". One that needs the race detector ends in "+race".
//
//go:embed breaks.txt
var breakList string

// killers are the tests of an entry of breaks.txt.
func (e *equivalent) killers() (all []killer) {
	for field := range strings.FieldsSeq(e.reason) {
		pkg, name, ok := strings.Cut(field, ":")
		if !ok {
			pkg, name = path.Dir(e.file), field
		}
		name, race := strings.CutSuffix(name, "+race")
		all = append(all, killer{tests{pkg, race}, name})
	}
	return all
}

// A killer is a test that must notice a break.
type killer struct {
	tests
	name string
}

// A brk is a break: number i of the list.
type brk struct {
	mutant
	id      string
	killers []killer
}

// breaks returns all breaks of the module in dir.
func breaks(dir, list string) (all []brk, err error) {
	es, err := equivalents(list)
	if err != nil {
		return nil, fmt.Errorf("breaks.txt: %w", err)
	}
	var missing []error
	for i, e := range es {
		source, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.file)))
		if err != nil {
			return nil, err
		}
		b := brk{mutant{file: e.file, function: e.function, before: e.before, after: e.after}, fmt.Sprint(i + 1), e.killers()}
		if b.line, b.source, err = replaced(string(source), e); err != nil {
			missing = append(missing, err)
			continue
		}
		all = append(all, b)
	}
	return all, errors.Join(missing...)
}

// breakRun runs breaks of the module in dir.
type breakRun struct {
	runner
	tmp     string
	overlay string
	bins    map[tests]string // by package, and whether the race detector sees
	sound   map[killer]bool  // tests that have passed without a break
	out     io.Writer
	missed  int
}

// runBreaks runs those that are wanted. It returns an error if a test does not notice one.
func runBreaks(w what, out io.Writer) error {
	dir, err := root()
	if err != nil {
		return err
	}
	return runListed(dir, breakList, w, out)
}

func runListed(dir, list string, w what, out io.Writer) error {
	all, err := breaks(dir, list)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(b brk) bool { return !w.wants(b.mutant) })
	r := &breakRun{runner: runner{dir: dir, perTest: w.perTest}, bins: map[tests]string{}, sound: map[killer]bool{}, out: out}
	if r.tmp, err = os.MkdirTemp("", "breaks"); err != nil {
		return err
	}
	defer os.RemoveAll(r.tmp)
	if err := r.prepare(all); err != nil {
		return err
	}
	for _, b := range all {
		for _, k := range b.killers {
			if err := r.one(b, k); err != nil {
				return err
			}
		}
	}
	if r.missed > 0 {
		return fmt.Errorf("%d times a test did not notice", r.missed)
	}
	return nil
}

// prepare writes the overlay with all breaks.
func (r *breakRun) prepare(all []brk) error {
	replace := map[string]string{}
	write := func(file string, text []byte) error {
		if replace[filepath.Join(r.dir, filepath.FromSlash(file))] != "" {
			return nil // the variable of a package with several files
		}
		to := filepath.Join(r.tmp, fmt.Sprint(len(replace), ".go"))
		replace[filepath.Join(r.dir, filepath.FromSlash(file))] = to
		return os.WriteFile(to, text, 0o600)
	}
	byFile := map[string][]brk{}
	for _, b := range all {
		byFile[b.file] = append(byFile[b.file], b)
	}
	for file, bs := range byFile {
		source, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		text, err := withBreaks(source, bs)
		if err != nil {
			return err
		}
		if err := write(file, text); err != nil {
			return err
		}
		if err := write(path.Join(path.Dir(file), "break.go"), breakNow(source)); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	r.overlay = filepath.Join(r.tmp, "overlay.json")
	return os.WriteFile(r.overlay, list, 0o600)
}

// one runs a test with a break, and prints what comes of it. The first time, the test must pass without.
func (r *breakRun) one(b brk, k killer) error {
	bin, ok := r.bins[k.tests]
	if !ok {
		bin = filepath.Join(r.tmp, fmt.Sprintf("%s.%t.test.exe", strings.NewReplacer("/", "_", ".", "root").Replace(k.pkg), k.race))
		build := exec.Command("go", "test", "-c", "-vet=off", fmt.Sprint("-race=", k.race), "-overlay", r.overlay, "-o", bin, "./"+k.pkg)
		build.Dir = r.dir
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		r.bins[k.tests] = bin
	}
	if !r.sound[k] {
		r.sound[k] = true
		if v, err := r.test(bin, k.pkg, "", "-test.run=^"+k.name+"$"); err != nil || v.how != survived {
			return fmt.Errorf("without a break, %s of %s ends like this: %s: %w", k.name, k.pkg, v.how, err)
		}
	}
	begun := time.Now()
	v, err := r.test(bin, k.pkg, b.id, "-test.run=^"+k.name+"$")
	if err != nil {
		return err
	}
	if v.how == survived {
		r.missed++
	}
	fmt.Fprintf(r.out, "%s\t%s\t%s: %s\t%.1fs\n", v.how, b.mutant, k.pkg, cmp.Or(v.by, k.name), time.Since(begun).Seconds())
	return nil
}
