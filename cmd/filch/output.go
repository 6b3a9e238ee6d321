package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// outputs are the files that a report goes to.
type outputs struct {
	json, html reportFile
	svg        string // a folder
}

// newOutputs checks that all can be written, so that this is known before anything is measured.
func newOutputs(o options) (all outputs, err error) {
	if o.html != "" && (samePath(o.html, o.json) || samePath(o.html, o.from)) {
		return all, fmt.Errorf("--html %s: is the file of the figures as well", o.html)
	}
	for flag, path := range map[string]string{"--html": o.html, "--json": o.json, "--from": o.from} {
		if o.svg != "" && filepath.Ext(path) == ".svg" && samePath(filepath.Dir(path), o.svg) {
			return all, fmt.Errorf("%s %s: --svg writes its pictures there", flag, path)
		}
	}
	if all.json, err = newReportFile("--json", o.json); err != nil {
		return all, err
	}
	if all.html, err = newReportFile("--html", o.html); err != nil {
		return all, err
	}
	all.svg, err = newFolder("--svg", o.svg)
	return all, err
}

// newFolder makes a folder for drawings, and checks that it can be written to. Without a path there is none.
func newFolder(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	_, err := newReportFile(flag, filepath.Join(path, "speed-up.svg"))
	return path, err
}

// samePath reports whether a and b lead to the same file, by links too.
func samePath(a, b string) bool {
	if b == "" {
		return false
	}
	there, err := os.Stat(a)
	if other, err2 := os.Stat(b); err == nil && err2 == nil && os.SameFile(there, other) {
		return true
	}
	x, err := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && x == y
}

// write writes the report in all forms that are asked for.
func (out outputs) write(r report) error {
	if err := out.json.writeJSON(r); err != nil {
		return err
	}
	if out.html.path == "" && out.svg == "" {
		return nil
	}
	cs := chartsOf(r)
	if out.svg != "" && len(cs) == 0 {
		return errors.New("--svg: nothing has run, so there is nothing to draw")
	}
	if out.html.path != "" {
		b, err := page(r, cs)
		if err != nil {
			return fmt.Errorf("--html: %w", err)
		}
		if err := out.html.write(b); err != nil {
			return err
		}
	}
	if out.svg == "" {
		return nil
	}
	for _, c := range cs {
		f := reportFile{"--svg", filepath.Join(out.svg, c.file())}
		if err := f.write(c.svg(wide, standing)); err != nil {
			return err
		}
	}
	return nil
}

// reportFile is a file that appears when it is complete.
type reportFile struct{ flag, path string }

// newReportFile checks that the file can be written, so that this is known at once, and
// leaves it as it is until all is measured. Without a path there is none, and nothing is
// written. The flag is for errors.
func newReportFile(flag, path string) (reportFile, error) {
	f := reportFile{flag, path}
	if path == "" {
		return f, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return f, fmt.Errorf("%s %s: is a folder", flag, path)
	}
	if info != nil && !info.Mode().IsRegular() {
		return f, nil
	}
	// A link stays one: what it leads to is replaced, or made.
	if f.path, err = linked(path); err != nil {
		return f, fmt.Errorf("%s %s: %w", flag, path, reasonOf(err))
	}
	tmp, err := f.create()
	if err != nil {
		return f, err
	}
	tmp.Close()
	return f, os.Remove(tmp.Name())
}

// linked returns what path leads to, if it is a link.
func linked(path string) (string, error) {
	to, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return to, err
	}
	if to, err = os.Readlink(path); err != nil {
		return path, nil // it is no link
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return linked(to) // which ends: a circle of links is another error
}

// reasonOf returns why something failed, without the name of a file that the user has not named.
func reasonOf(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// create makes a file beside f, with the permissions that a new file has.
func (f reportFile) create() (*os.File, error) {
	for {
		tmp, err := os.OpenFile(fmt.Sprintf("%s.%d.tmp", f.path, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return tmp, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, f.failed(err)
		}
	}
}

func (f reportFile) failed(err error) error {
	return fmt.Errorf("%s %s: %w", f.flag, f.path, reasonOf(err))
}

func (f reportFile) writeJSON(r any) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.flag, err)
	}
	return f.write(append(b, '\n'))
}

func (f reportFile) write(b []byte) error {
	if f.path == "" {
		return nil
	}
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe: it cannot be replaced
		if err = os.WriteFile(f.path, b, 0o666); err != nil {
			err = f.failed(err)
		}
		return err
	}
	tmp, err := f.create()
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // unless it was renamed
	_, err = tmp.Write(b)
	if err == nil && info != nil {
		err = tmp.Chmod(info.Mode().Perm()) // what was private stays so
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		return f.failed(err)
	}
	return nil
}
