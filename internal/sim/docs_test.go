package sim

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

// docs/simulator.md has the families and the kernels as they are, and its graphs and its trace are read.
func TestTheDocumentHasFamiliesAndKernelsAsTheyAre(t *testing.T) {
	data, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/simulator.md"):`, err)
	}
	for _, d := range dag.Families() {
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", d.Name, d.About, d.Size, d.Default)
		if !strings.Contains(string(data), row) {
			t.Errorf("no row %s", row)
		}
	}
	for _, name := range kernel.Names() {
		if row := fmt.Sprintf("| `%s` | %s | ", name, kernel.About(name)); name != "trace" && !strings.Contains(string(data), row) {
			t.Errorf("no row %s", row)
		}
	}
	_, trace, _ := strings.Cut(string(data), "    # step processors\n")
	trace, _, _ = strings.Cut(trace, "\n\n")
	if k, err := kernel.ReadTrace(strings.NewReader(trace)); err != nil || len(k.Trace) != 3 {
		t.Errorf("the trace is %+v, %v", k, err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		g, err := dag.ReadGraph(strings.NewReader(block[1]))
		if err != nil {
			t.Fatal("dag.ReadGraph(strings.NewReader(block[1])):", err)
		}
		f := facts(t, g)
		found = append(found, fmt.Sprintf("work %d, span %d", f.Work, f.Span))
	}
	if got := strings.Join(found, "; "); got != "work 14, span 11; work 804, span 204" {
		t.Errorf("the graphs have %s", got)
	}
}
