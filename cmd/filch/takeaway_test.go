package main

import "testing"

// A chart says in a sentence what it shows: where filch is ahead and furthest behind, how far runs lie apart, which curve ends highest.
func TestChartsSayWhatTheyShow(t *testing.T) {
	looks := []look{{"filch", true, 0}, {"goroutine", false, 0}, {"serial", false, 1}}
	at := func(mids ...float64) (ps []point) {
		for i, mid := range mids {
			ps = append(ps, point{executor: i, low: mid * .9, mid: mid, high: mid * 1.1})
		}
		return ps
	}
	curve := func(executor int, ends ...float64) (ps []point) {
		for i, mid := range ends {
			ps = append(ps, point{executor: executor, x: float64(i + 1), mid: mid})
		}
		return ps
	}
	for want, c := range map[string]*chart{
		"Of the parallel executors, filch is ahead in all of 1.":                                                                 {name: "speed-up", looks: looks, lines: []line{{name: "fib", points: at(1.5, 1, 9)}}},
		"Of the parallel executors, filch is ahead in 1 of 2; furthest behind in uts, by 2.00 times.":                            {name: "speed-up", looks: looks, lines: []line{{name: "fib", points: at(1.5, 1)}, {name: "uts", points: at(1, 2)}}},
		"Of the parallel executors, filch is ahead in 0 of 1; furthest behind in fib, by 1.50 times.":                            {name: "overhead-2", looks: looks, lines: []line{{name: "fib", points: at(1.5, 1)}}},
		"From the fastest run to the slowest it is 30% of the median in half of the rows, and at most 40%, in fib by goroutine.": {name: "spread", looks: looks, lines: []line{{name: "fib", points: at(1, 2)}}},
		"On 2 workers, highest is goroutine, 3.00, and lowest filch, 2.00.":                                                      {name: "scaling", looks: looks, panels: []panel{{curves: [][]point{curve(0, 9, 2), curve(1, 1, 3)}}}},
		"On 2 workers all are within 2%.": {name: "time", looks: looks, panels: []panel{{curves: [][]point{curve(0, 9, 3), curve(1, 1, 3)}}}},
		"":                                {name: "time", looks: looks, panels: []panel{{curves: [][]point{curve(0, 9, 3)}}}},
	} {
		if got := c.takeaway(); got != want {
			t.Errorf("%s: %q, not %q", c.name, got, want)
		}
	}
}
