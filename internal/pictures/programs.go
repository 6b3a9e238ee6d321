package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// programNames are the programs of docs/programs.md in its order: the names of their benchmarks, and those in the table.
var programNames = [][2]string{
	{"tree", "tree walk"}, {"divide", "divide and conquer"}, {"loop", "uneven loop"}, {"pipeline", "pipeline"}, {"crawl", "crawler"},
	{"build", "build"}, {"search", "search with pruning"}, {"requests", "request handlers"}, {"jobs", "periodic jobs"}, {"steps", "simulation"},
}

// programsTable says how much faster the programs of docs/programs.md are in their forms.
func programsTable(k *kept, _ string) string {
	r, times := benchmarksIn(string(k.file("bench/programs.txt")))
	rows, runs := [][]string{{"program", "serial", "goroutines", "filch"}}, 0
	for _, p := range programNames {
		var ns [3]float64
		for i, form := range []string{"serial", "goroutines", "filch"} {
			all := times["Programs/"+p[0]+"/"+form]
			if len(all) == 0 {
				panic(missing(fmt.Sprintf("docs/bench/programs.txt has no Programs/%s/%s", p[0], form)))
			}
			ns[i], runs = median(all), len(all)
		}
		rows = append(rows, []string{p[1], nanos(ns[0]), digits(ns[0]/ns[1]) + " x", digits(ns[0]/ns[2]) + " x"})
	}
	return tabled(rows) + fmt.Sprintf("\nOn the right: times as fast as serial. Medians of %d runs. ", runs) + r.source() + "\n"
}

var (
	setting = regexp.MustCompile(`(?m)^(\w+): (.*)$`)
	timing  = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-(\d+))?\s+\d+\s+([\d.]+) ns/op`)
)

// benchmarksIn returns the nanoseconds of each benchmark that go test has printed, by its name. Lines above say what the machine is,
// and which Go and day it was.
func benchmarksIn(text string) (r report, times map[string][]float64) {
	said := map[string]string{}
	for _, m := range setting.FindAllStringSubmatch(text, -1) {
		said[m[1]] = m[2]
	}
	r.Machine.CPU, r.Machine.Go, r.Machine.Time = said["cpu"], said["go"], said["date"]
	r.Machine.CPUs = 1 // a name has their number if there are more
	times = map[string][]float64{}
	for _, m := range timing.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			r.Machine.CPUs = n
		}
		if ns, err := strconv.ParseFloat(m[3], 64); err == nil {
			times[m[1]] = append(times[m[1]], ns)
		}
	}
	return r, times
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
