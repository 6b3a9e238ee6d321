package kernel

import (
	"slices"
	"strings"
	"testing"
)

func TestATraceHasStepsAndProcessors(t *testing.T) {
	k, err := ReadTrace(strings.NewReader("# step processors\n\n0 8\n 1000\t2 # another program\n5000 8"))
	if err != nil || k.Name != "trace" || !slices.Equal(k.Trace, []Supply{{0, 8}, {1000, 2}, {5000, 8}}) {
		t.Errorf("ReadTrace(…): %+v, %v", k, err)
	}
}

func TestWrongTracesAreToldWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no rows",
		"# nothing":                       "no rows",
		"0":                               "line 1 of a kernel trace: it has 1 fields",
		"0 1 2":                           "line 1 of a kernel trace: it has 3 fields",
		"0 1\nx 2":                        `line 2 of a kernel trace: "x" is not a step`,
		"0 1\n1 1.5":                      `line 2 of a kernel trace: "1.5" is not a number of processors`,
		"5 1":                             "the first step is 5",
		"0 1\n\n5 1\n5 2":                 "line 4 of a kernel trace: step 5 does not come after step 5",
		"0 -1":                            "-1 processors",
		"0 5000000":                       "5000000 processors",
		"0 1\n7 0":                        "would not end",
		"0 1\n9223372036854775808 1":      "is not a step",
		"0 " + strings.Repeat("1", 1<<17): "line 1 of a kernel trace: bufio.Scanner: token too long",
	} {
		if _, err := ReadTrace(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v; want %s", text, err, want)
		}
	}
}
