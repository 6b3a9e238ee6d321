package main

import (
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
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

	Versions map[string]string `json:"versions,omitempty"` // of the modules of rivals
}

// rivals are the modules that executors are from, by name of the executor.
var rivals = map[string]string{
	"ants": "github.com/panjf2000/ants/v2", "conc": "github.com/sourcegraph/conc", "errgroup": "golang.org/x/sync",
	"lo": "github.com/samber/lo", "pargo": "github.com/exascience/pargo", "pond": "github.com/alitto/pond/v2",
	"workerpool": "github.com/gammazero/workerpool",
}

func thisMachine() machine {
	m := machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuid.CPU.BrandName, CPUs: runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version(), Time: time.Now().UTC().Truncate(time.Second),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.builtWith(info.Settings)
		m.Versions = versionsOf(info.Deps)
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

// versionsOf returns the versions of the rivals that a build has.
func versionsOf(deps []*debug.Module) map[string]string {
	versions := map[string]string{}
	for name, path := range rivals {
		i := slices.IndexFunc(deps, func(m *debug.Module) bool { return m.Path == path })
		if i >= 0 {
			versions[name] = deps[i].Version
		}
	}
	return versions
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

	Times []time.Duration `json:"times_ns,omitempty"` // of each run; those of a group stand in the order of the rounds
}
