package main

import (
	"strings"
	"testing"
)

// Each program gives the same answer in its serial form and on filch.
func TestSerialFormsAndFilchGiveTheSameAnswers(t *testing.T) {
	for load, want := range map[string]string{
		"fib 20":            "6765",
		"nqueens 8":         "92",
		"skynet 1000":       "499500",
		"integrate 10":      "2550",
		"uts T1/5":          "3987 nodes, 3232 leaves, depth 5",
		"matmul 128":        "128 x 128, as the naive product",
		"sort-random 1000":  "", // ordered, and with the same sum
		"sort-nearly 10000": "ordered true, sum 799920000",
		"sum 10000":         "4995000",
		"prefix 10000":      "1554111 and 4995000",
		"tasks 1000":        "1000",
	} {
		var out strings.Builder
		if err := serve(strings.NewReader("load "+load+" 2\nserial\nrun\nrun\n"), &out, "filch"); err != nil {
			t.Errorf(`serve(…, &out, "filch"): %s: %v`, load, err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 4 || lines[0] != "0 loaded" {
			t.Errorf(`strings.Split(…, "\n"): %s: %q`, load, lines)
			continue
		}
		for _, line := range lines[1:] {
			_, answer, _ := strings.Cut(line, " ")
			_, first, _ := strings.Cut(lines[1], " ")
			if answer != first || want != "" && answer != want || want == "" && !strings.HasPrefix(answer, "ordered true") {
				t.Errorf("%s: %q, want %q", load, answer, want)
			}
		}
	}
}

func TestRequestsThatMakeNoSenseAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"load fob 1 1":  `there is no program "fob"`,
		"load fib x 1":  `fib: size "x"`,
		"load sum x 1":  "invalid syntax",
		"load fib 20 x": "invalid syntax",
		"run":           `what is "run"?`,
	} {
		if err := serve(strings.NewReader(line+"\n"), &strings.Builder{}, "filch"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf(`serve(strings.NewReader(line+"\n"), …, "filch"): %s: %v`, line, err)
		}
	}
}
