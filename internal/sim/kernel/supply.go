package kernel

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxSupplies is the most rows of a trace.
const maxSupplies = 1 << 20

// ReadTrace reads the kernel trace. Each line has two numbers: a step, and how many workers have a processor from that
// step on. The first step is 0, and each is after the one before. The last line holds to the end of the run, so it has
// at least one processor. Empty lines are skipped, and so is what follows a #.
//
//	# step processors
//	0      8
//	1000   2   # another program begins
//	5000   8
func ReadTrace(r io.Reader) (*Kernel, error) {
	var trace []Supply
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		s, err := parseSupply(fields, trace)
		if err != nil {
			return nil, fmt.Errorf("sim: line %d of a kernel trace: %w", n, err)
		}
		trace = append(trace, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("sim: line %d of a kernel trace: %w", n+1, err)
	}
	k := &Kernel{Name: "trace", Trace: trace}
	return k, k.Check()
}

// parseSupply reads the fields of a line that follows the given rows.
func parseSupply(fields []string, trace []Supply) (Supply, error) {
	if len(fields) != 2 {
		return Supply{}, fmt.Errorf("it has %d fields instead of two, a step and a number of processors", len(fields))
	}
	from, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return Supply{}, fmt.Errorf("%q is not a step", fields[0])
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		return Supply{}, fmt.Errorf("%q is not a number of processors", fields[1])
	}
	s := Supply{From: from, Processors: n}
	return s, checkSupply(s, trace)
}

// checkSupply returns what is wrong with s after the given rows.
func checkSupply(s Supply, trace []Supply) error {
	switch n := len(trace); {
	case n == 0 && s.From != 0:
		return fmt.Errorf("the first step is %d; it must be 0", s.From)
	case n > 0 && s.From <= trace[n-1].From:
		return fmt.Errorf("step %d does not come after step %d", s.From, trace[n-1].From)
	case s.Processors < 0 || s.Processors > MaxProcessors:
		return fmt.Errorf("%d processors; there must be from 0 to %d", s.Processors, MaxProcessors)
	case n == maxSupplies:
		return fmt.Errorf("there are more than %d rows", maxSupplies)
	}
	return nil
}

// checkTrace returns what is wrong with a trace.
func checkTrace(trace []Supply) error {
	if len(trace) == 0 {
		return fmt.Errorf("sim: a kernel trace has no rows")
	}
	for i, s := range trace {
		if err := checkSupply(s, trace[:i]); err != nil {
			return fmt.Errorf("sim: row %d of a kernel trace: %w", i+1, err)
		}
	}
	if trace[len(trace)-1].Processors == 0 {
		return fmt.Errorf("sim: the last row of a kernel trace has no processors, so that the run would not end")
	}
	return nil
}
