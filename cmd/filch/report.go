package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// report is what --json writes.
type report struct {
	Machine machine `json:"machine"`
	Rows    []*row  `json:"rows"`
	Bars    []bar   `json:"bars,omitempty"`
}

// machine is where the figures come from.
type machine struct {
	OS         string    `json:"os"`
	Arch       string    `json:"arch"`
	CPU        string    `json:"cpu"`
	CPUs       int       `json:"cpus"`
	GOMAXPROCS int       `json:"gomaxprocs"`
	Go         string    `json:"go"`
	Level      string    `json:"level,omitempty"` // of the instruction set: "GOAMD64=v1"
	Profile    string    `json:"profile"`         // what the build was guided by: "", a file, or both
	Revision   string    `json:"revision,omitempty"`
	Time       time.Time `json:"time"`
}

func thisMachine() machine {
	m := machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuid.CPU.BrandName, CPUs: runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version(), Time: time.Now().UTC().Truncate(time.Second),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.builtWith(info.Settings)
	}
	return m
}

// builtWith takes what a build says of itself.
func (m *machine) builtWith(settings []debug.BuildSetting) {
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			m.Revision = s.Value
		case "GOAMD64", "GOARM64", "GO386":
			m.Level = s.Key + "=" + s.Value
		case "-pgo":
			m.Profile = filepath.Base(s.Value)
		}
	}
}

// bothBuilds is the profile of a report that has rows of a build with and of one without.
const bothBuilds = "both"

// build says how the program was built.
func (m machine) build() string {
	s := "built with " + m.Go
	if m.Level != "" {
		s += ", " + m.Level
	}
	switch m.Profile {
	case "":
		return s + ", no profile"
	case bothBuilds:
		return s + ", with no profile and, where it says " + withProfile + ", guided by " + profileName
	}
	return s + ", guided by the profile " + m.Profile
}

// row is one executor on one workload. Times are those of one call.
type row struct {
	Workload  string        `json:"workload"`
	Size      string        `json:"size"`
	Executor  string        `json:"executor"`
	Workers   int           `json:"workers"`
	Runs      int           `json:"runs"` // 0 if the executor cannot; Note says why
	Median    time.Duration `json:"median_ns"`
	Min       time.Duration `json:"min_ns"`
	Max       time.Duration `json:"max_ns"`
	Serial    time.Duration `json:"serial_ns"`
	Overhead  float64       `json:"overhead"` // T_1/T_s; 0 if one worker was not measured
	Speedup   float64       `json:"speedup"`  // T_s/T_P
	Allocs    int64         `json:"allocs"`
	Bytes     int64         `json:"bytes"`
	CPU       time.Duration `json:"cpu_ns"`
	MaxRSS    int64         `json:"max_rss_bytes"`
	Steals    int64         `json:"steals"`
	Answer    string        `json:"answer"`
	OK        bool          `json:"ok"`
	Note      string        `json:"note"`
	Forks     int64         `json:"forks,omitempty"`
	NsPerFork float64       `json:"ns_per_fork,omitempty"`
	Wasted    float64       `json:"wasted,omitempty"` // of sssp: vertices done again, as a part of all
	Stale     float64       `json:"stale,omitempty"`  // and those that were queued for nothing
	Open      int64         `json:"open,omitempty"`   // most children of a loop that were open at a time; 0 if not counted

	times []time.Duration // of each run
}

// reportFile is a file that appears when it is complete.
type reportFile struct{ path string }

// newReportFile checks that the file can be written, so that this is known at once, and
// leaves it as it is until all is measured. Without a path there is none, and nothing is
// written.
func newReportFile(path string) (reportFile, error) {
	f := reportFile{path}
	if path == "" {
		return f, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return f, fmt.Errorf("--json %s: is a folder", path)
	}
	if err == nil {
		// A link stays one: what it leads to is replaced.
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return f, fmt.Errorf("--json: %w", err)
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
		return nil, fmt.Errorf("--json %s: %w", f.path, err)
	}
	return tmp, nil
}

func (f reportFile) write(r report) error {
	if f.path == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	b = append(b, '\n')
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
		return fmt.Errorf("--json %s: %w", f.path, err)
	}
	return nil
}
