package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// The test binary plays a system, if it is told so.
func TestMain(m *testing.M) {
	switch os.Getenv("BENCH_SYSTEM") {
	case "":
		os.Exit(m.Run())
	case "dies":
		os.Exit(3)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		how, _, _ := strings.Cut(lines.Text(), " ")
		fmt.Println(map[string]string{"load": "0 loaded", "serial": "6000000 42", "run": "2000000 " + os.Getenv("BENCH_SYSTEM")}[how])
	}
}

// A system's time stands beside how many times as fast it is as its own serial program.
func TestTableComparesWithTheSerialProgram(t *testing.T) {
	t.Setenv("BENCH_SYSTEM", "42")
	systems := []system{{"one", []string{os.Args[0]}}, {"filch-chain", []string{os.Args[0]}}}
	var out strings.Builder
	if err := run(&out, io.Discard, systems, []string{"fib", "sum"}, []int{2}, 3, true); err != nil {
		t.Fatal("run(…):", err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	want := "program size workers one filch-chain fib 20 2 2 ms (3.00) 2 ms (3.00) sum 100000 2 2 ms (3.00) - Medians of 3 runs"
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q does not begin with %q", got, want)
	}
}

// An answer that is not that of the others ends the run, and so does a system that dies.
func TestWrongAnswersEndTheRun(t *testing.T) {
	for how, want := range map[string]string{"43": "fib 20 on one, run: 43, not 42", "dies": "one ended"} {
		t.Setenv("BENCH_SYSTEM", how)
		err := run(io.Discard, io.Discard, []system{{"one", []string{os.Args[0]}}}, []string{"fib"}, []int{1}, 1, true)
		if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("run(…): %s: %v", how, err)
		}
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"there must be a system":     {},
		"a system is name=command":   {"filch"},
		"-programs: there is no fob": {"-programs", "fob", "a=b"},
		"-workers x: not a number":   {"-workers", "x", "a=b"},
		"-workers 0: not a number":   {"-workers", "0", "a=b"},
	} {
		if _, _, _, _, _, err := parse(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
