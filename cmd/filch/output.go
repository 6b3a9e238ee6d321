package main

import (
	"encoding/json"
	"errors"
	"fmt"
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

func samePath(a, b string) bool {
	if b == "" {
		return false
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
	if err == nil {
		// A link stays one: what it leads to is replaced.
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return f, fmt.Errorf("%s: %w", flag, err)
		}
		if !info.Mode().IsRegular() {
			return f, nil
		}
	}
	tmp, err := f.create()
	if err != nil {
		return f, err
	}
	tmp.Close()
	return f, os.Remove(tmp.Name())
}

func (f reportFile) create() (*os.File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", f.flag, f.path, err)
	}
	return tmp, nil
}

func (f reportFile) writeJSON(r report) error {
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
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(f.path, b, 0o644) // a device or a pipe: it cannot be replaced
	}
	tmp, err := f.create()
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // unless it was renamed
	_, err = tmp.Write(b)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.flag, f.path, err)
	}
	return nil
}
