package span

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// shown are the numbers of workers that the texts and pictures have.
var shown = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// String returns the profile in a line.
func (p *Profile) String() string {
	return fmt.Sprintf("work %v, span %v, parallelism %s, burdened %s, %d forks",
		rounded(p.Work), rounded(p.Span), digits(p.Parallelism()), digits(p.BurdenedParallelism()), p.Forks)
}

// WriteText writes the profile, and a line for each of 1 to 256 workers.
func (p *Profile) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "work           %-10v of all that ran\n", rounded(p.Work))
	fmt.Fprintf(&b, "span           %-10v of the longest path; parallelism %s\n", rounded(p.Span), digits(p.Parallelism()))
	fmt.Fprintf(&b, "burdened span  %-10v with %v for each fork on the path; parallelism %s\n", rounded(p.BurdenedSpan), Burden, digits(p.BurdenedParallelism()))
	fmt.Fprintf(&b, "forks          %d\n\n", p.Forks)
	fmt.Fprintf(&b, "workers  speed-up at least  at most\n")
	for _, n := range shown {
		least, most := p.SpeedUp(n)
		fmt.Fprintf(&b, "%7d  %17.2f  %7.2f\n", n, least, most)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rounded returns d with three digits or so.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// digits returns v with three digits, or all that are before the point.
func digits(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
