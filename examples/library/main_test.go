package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	err := run(&out, 1000)
	want := `of x: 1000 from 0.0 to 999.0, median 500.0, mean 499.5, deviation 288.7
of y: 1000 from 0.0 to 996.0, median 449.0, mean 461.5, deviation 294.8
both: [1000 from 0.0 to 999.0, median 500.0, mean 499.5, deviation 288.7 1000 from 0.0 to 996.0, median 449.0, mean 461.5, deviation 294.8]
`
	if err != nil || out.String() != want {
		t.Errorf("run(&out, 1000): %v, %s", err, &out)
	}
}
