package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// profileName is the file that the go command guides a build by if it lies beside package
// main. make pgo makes it. It is not kept: builds that it guides compile the standard library
// again, and it is soon out of date.
const profileName = "default.pgo"

// withProfile is behind the name of an executor that was measured in the build with a profile.
const withProfile = "+pgo"

// builds are this command, built twice.
type builds struct {
	folder string // temporary
	plain  string
	guided string
}

// sourceFolder returns where the source of this command was when it was built.
func sourceFolder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// buildBoth builds the command whose source is in that folder, with and without the profile
// that lies there. If there is none, it makes one. The error says what is missing.
func buildBoth(source string) (*builds, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, err
	}
	profile := filepath.Join(source, profileName)
	if _, err := os.Stat(filepath.Join(source, "builds.go")); err != nil {
		return nil, fmt.Errorf("its source is not here: %w", err)
	}
	folder, err := os.MkdirTemp("", "filch-builds-")
	if err != nil {
		return nil, err
	}
	b := &builds{folder: folder, plain: filepath.Join(folder, "plain"), guided: filepath.Join(folder, "guided")}
	err = build(source, "off", b.plain)
	if _, none := os.Stat(profile); err == nil && none != nil {
		profile = filepath.Join(folder, profileName)
		err = b.profile(profile)
	}
	if err == nil {
		err = build(source, profile, b.guided)
	}
	if err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

func build(source, profile, to string) error {
	cmd := exec.Command("go", "build", "-pgo="+profile, "-o", to, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

// forProfile are the arguments of a run that shows what forks do, each workload for about as
// long as the others. make pgo has the same.
const forProfile = "bench fib nqueens skynet treesum integrate uts quicksort mergesort --runs 15 " +
	"--executors filch,filch-call,filch-chain,filch-join --size fib=27,nqueens=11,skynet=100000,integrate=25,uts=T1/7 " +
	"--size treesum=1023,treesum=131071,quicksort=300000,mergesort=300000"

// profile makes a profile of the plain build.
func (b *builds) profile(to string) error {
	cmd := exec.Command(b.plain, append(strings.Fields(forProfile), "--cpuprofile", to)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

func (b *builds) remove() { os.RemoveAll(b.folder) }

// childArgs are the arguments for one run of a build.
func childArgs(names []string, o options) []string {
	args := append([]string{"bench", "--runs", "1"}, names...)
	list := func(flag string, values []string) {
		for _, v := range values {
			args = append(args, flag, v)
		}
	}
	list("--executors", o.executors)
	list("--size", o.sizes)
	for _, n := range o.workers {
		args = append(args, "--workers", strconv.Itoa(n))
	}
	if o.input != "" {
		args = append(args, "--input", o.input)
	}
	return args
}

// measure runs the builds in turn, so often each.
func (b *builds) measure(stderr io.Writer, args []string, runs int) (report, error) {
	bar := newProgress(stderr, 2*runs)
	defer bar.done()
	var plain, guided []report
	for i := range runs {
		for k := range 2 {
			program, all := b.plain, &plain
			if (i+k)%2 == 1 {
				program, all = b.guided, &guided
			}
			r, err := b.once(program, args)
			if err != nil {
				return report{}, err
			}
			*all = append(*all, r)
			bar.step(filepath.Base(program), 1)
		}
	}
	return interleave(plain, guided), nil
}

func (b *builds) once(program string, args []string) (r report, err error) {
	file := filepath.Join(b.folder, "report.json")
	cmd := exec.Command(program, append(slices.Clone(args), "--json", file)...)
	var told bytes.Buffer
	cmd.Stderr = &told
	if err := cmd.Run(); err != nil {
		return r, errors.New(strings.TrimSpace(strings.TrimPrefix(told.String(), "filch: ")))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// interleave makes one report of those of both builds: the rows of a workload together, and
// in each of them the medians of its runs.
func interleave(plain, guided []report) report {
	all := report{Machine: plain[0].Machine}
	all.Machine.Profile = bothBuilds
	a, b := mergeRows(plain), mergeRows(guided)
	for _, r := range b {
		r.Executor += withProfile
	}
	same := func(x, y *row) bool { return x.Workload == y.Workload && x.Size == y.Size }
	for len(a) > 0 {
		n := 1
		for n < len(a) && same(a[n], a[0]) {
			n++
		}
		all.Rows = append(append(all.Rows, a[:n]...), b[:n]...)
		a, b = a[n:], b[n:]
	}
	all.Bars = mergeBars(plain)
	for _, bar := range mergeBars(guided) {
		bar.What += ", with a profile"
		all.Bars = append(all.Bars, bar)
	}
	return all
}

// mergeRows makes one row of those that stand at the same place of several reports.
func mergeRows(reports []report) (rows []*row) {
	for i, first := range reports[0].Rows {
		r := *first
		r.Times = nil
		c := candidate{row: &r}
		for _, other := range reports {
			x := other.Rows[i]
			if x.Runs == 0 {
				continue
			}
			c.Times = append(c.Times, x.Median)
			c.samples = append(c.samples, sample{x.CPU, x.Allocs, x.Bytes, x.Steals})
			r.MaxRSS = max(r.MaxRSS, x.MaxRSS)
		}
		if r.Runs = len(c.Times); r.Runs > 0 {
			c.medians()
		}
		rows = append(rows, &r)
	}
	for i := 0; i < len(rows); {
		n := i + 1
		for n < len(rows) && rows[n].Workload == rows[i].Workload && rows[n].Size == rows[i].Size {
			n++
		}
		compare(rows[i:n])
		i = n
	}
	return rows
}

// mergeBars returns the medians of what reports say of the same goals. Not all reports have
// all goals: some are for programs that take long enough.
func mergeBars(reports []report) (bs []bar) {
	all := map[string][]bar{}
	for _, r := range reports {
		for _, b := range r.Bars {
			if all[b.What] == nil {
				bs = append(bs, b)
			}
			all[b.What] = append(all[b.What], b)
		}
	}
	for i := range bs {
		same := all[bs[i].What]
		bs[i].Got = median(each(same, func(b bar) float64 { return b.Got }))
		bs[i].NS = median(each(same, func(b bar) float64 { return b.NS }))
	}
	return bs
}
