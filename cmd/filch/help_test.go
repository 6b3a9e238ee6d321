package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Help of each command and topic fits a terminal: 40 lines of 100 columns.
func TestHelpFitsATerminal(t *testing.T) {
	var check func(c *cobra.Command, path []string)
	check = func(c *cobra.Command, path []string) {
		if c.Hidden || c.Name() == "completion" {
			return
		}
		var out strings.Builder
		if status := run(append([]string{"help"}, path...), &out, &out); status != 0 {
			t.Fatalf("help %v: status %d", path, status)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) > 40 {
			t.Errorf("help %v has %d lines", path, len(lines))
		}
		if strings.Contains(out.String(), "(default [") {
			t.Errorf("help %v shows a list by default that one cannot write:\n%s", path, out.String())
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("help %v: %d columns: %s", path, n, line)
			}
		}
		for _, sub := range c.Commands() {
			check(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	check(rootCommand(), nil)
}

// A flag that is misspelt or has a bad value is told in words of its user's.
func TestFlagsSayWhatWasMeant(t *testing.T) {
	for args, want := range map[string]string{
		"bench --runz 3":             "filch: unknown flag --runz; did you mean --runs?\n",
		"bench --exec filch":         "filch: unknown flag --exec; did you mean --executors?\n",
		"bench --nothing-like-it":    "filch: unknown flag --nothing-like-it; see filch bench --help\n",
		"bench --runs x":             "filch: --runs x: not a whole number\n",
		"bench --workers 1..":        "filch: --workers 1..: not whole numbers separated by commas, such as 1,2,4\n",
		"bench --fail-if-slower two": "filch: --fail-if-slower two: not a number\n",
		"live --rest soon":           "filch: --rest soon: not a time, such as 1.5s or 200ms\n",
		"sim --seed -1":              "filch: --seed -1: not a whole number from 0 on\n",
	} {
		var out, errs strings.Builder
		if status := run(strings.Fields(args), &out, &errs); status != 2 || errs.String() != want {
			t.Errorf("filch %s: status %d, %q, not %q", args, status, errs.String(), want)
		}
	}
}
