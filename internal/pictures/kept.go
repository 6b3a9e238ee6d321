package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A report is a file of docs/bench.
type report struct {
	name    string
	Machine struct {
		CPU  string `json:"cpu"`
		CPUs int    `json:"cpus"`
		Go   string `json:"go"`
		Time string `json:"time"`
	} `json:"machine"`
	Rows []row `json:"rows"`
	Bars []struct {
		What string  `json:"what"`
		Got  float64 `json:"got"`
		NS   float64 `json:"ns"`
	} `json:"bars"`
}

type row struct {
	Workload  string  `json:"workload"`
	Size      string  `json:"size"`
	Executor  string  `json:"executor"`
	Workers   int     `json:"workers"`
	Runs      int     `json:"runs"`
	Median    float64 `json:"median_ns"`
	CPU       float64 `json:"cpu_ns"`
	Speedup   float64 `json:"speedup"`
	Overhead  float64 `json:"overhead"`
	Allocs    float64 `json:"allocs"`
	Bytes     float64 `json:"bytes"`
	Forks     float64 `json:"forks"`
	NsPerFork float64 `json:"ns_per_fork"`
	Note      string  `json:"note"`
}

// The figures of a picture or a table come from here. What is missing ends the program: a picture that
// leaves it out would say something else.
type kept struct {
	dir  string // the root of the repository
	read map[string]*report
}

func keptIn(dir string) *kept { return &kept{dir: dir, read: map[string]*report{}} }

// A missing figure is what find panics with, and draw and fill return as an error.
type missing string

// file returns a file of docs.
func (k *kept) file(name string) []byte {
	b, err := os.ReadFile(filepath.Join(k.dir, "docs", filepath.FromSlash(name)))
	if err != nil {
		panic(missing(err.Error()))
	}
	return b
}

// report returns docs/bench/<name>.json.
func (k *kept) report(name string) *report {
	if r := k.read[name]; r != nil {
		return r
	}
	r := &report{name: name}
	k.decode("bench/"+name+".json", r)
	k.read[name] = r
	return r
}

func (k *kept) decode(name string, v any) {
	if err := json.Unmarshal(k.file(name), v); err != nil {
		panic(missing(fmt.Sprintf("docs/%s: %v", name, err)))
	}
}

// find returns the row that measures this.
func (r *report) find(workload, size, executor string, workers int) row {
	for _, x := range r.Rows {
		if x.Workload == workload && x.Size == size && x.Executor == executor && x.Workers == workers {
			return x
		}
	}
	panic(missing(fmt.Sprintf("docs/bench/%s.json has no row %s %s %s %d", r.name, workload, size, executor, workers)))
}

// bar returns the nanoseconds of a goal.
func (r *report) bar(what string) float64 {
	for _, b := range r.Bars {
		if b.What == what && b.NS != 0 {
			return b.NS
		}
	}
	panic(missing(fmt.Sprintf("docs/bench/%s.json has no time of %q", r.name, what)))
}

// source says where the figures come from.
func (r *report) source() string {
	cpu := strings.ReplaceAll(r.Machine.CPU, "(R)", "")
	day, _, _ := strings.Cut(r.Machine.Time, "T")
	return fmt.Sprintf("Measured: %s, %d CPUs, %s, %s.", cpu, r.Machine.CPUs, r.Machine.Go, day)
}

// short is the first word of a note: why there is no figure.
func (x row) short() string {
	s, _, _ := strings.Cut(x.Note, ":")
	return s
}

// nanos writes a time with three digits, or two below ten.
func nanos(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if ns >= u.ns {
			return digits(ns/u.ns) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

// digits writes x as precisely as it makes sense.
func digits(x float64) string {
	switch {
	case x < 0.01:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case x < 1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// stealsSource returns where the trace of steals is from, as its first line says.
func (k *kept) stealsSource() string {
	first, _, _ := strings.Cut(string(k.file(stealsFile)), "\n")
	parts := strings.Split(strings.TrimPrefix(first, "# "), ", ")
	if len(parts) != 4 {
		panic(missing("docs/" + stealsFile + ": the first line does not say where it is from"))
	}
	day, _, _ := strings.Cut(parts[3], "T")
	return fmt.Sprintf("Measured: %s, %s, %s, %s.", strings.ReplaceAll(parts[0], "(R)", ""), parts[1], parts[2], day)
}
