package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// scores counts verdicts by file.
type scores map[string]map[string]int

func (s scores) add(file, how string) {
	if s[file] == nil {
		s[file] = map[string]int{}
	}
	s[file][how]++
}

// print prints a table: a line for each file, and the sum. The score is of those that are not
// equivalent.
func (s scores) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "file\tmutants\tequivalent\tkilled\tof these, hung\tsurvived\tin 100\t")
	sum := map[string]int{}
	line := func(file string, n map[string]int) {
		dead := n[killed] + n[deadlock] + n[hung]
		score := "-"
		if dead+n[survived] > 0 {
			score = fmt.Sprint(100 * dead / (dead + n[survived]))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", file, dead+n[survived]+n[equal], n[equal], dead, n[hung], n[survived], score)
	}
	for _, file := range slices.Sorted(maps.Keys(s)) {
		line(file, s[file])
		for how, n := range s[file] {
			sum[how] += n
		}
	}
	line("all", sum)
	t.Flush()
}

// printTables prints one table of what was printed into files.
func printTables(out io.Writer, files []string) error {
	s := scores{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		err = s.read(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	s.print(out)
	return nil
}

func (s scores) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		how, rest, ok := strings.Cut(lines.Text(), "\t")
		file, _, isPlace := strings.Cut(rest, ":")
		if ok && isPlace && slices.Contains([]string{killed, deadlock, hung, survived, equal}, how) {
			s.add(file, how)
		}
	}
	return lines.Err()
}
