package ordered

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tables of README.md have the medians of docs/bench/ordered.txt.
func TestTablesHaveWhatWasMeasured(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal("the tables:", err)
	}
	raw, err := os.ReadFile("../docs/bench/ordered.txt")
	if err != nil {
		t.Fatal("what was measured:", err)
	}
	measured := map[string][]float64{}
	for _, m := range regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`).FindAllStringSubmatch(string(raw), -1) {
		ns, _ := strconv.ParseFloat(m[2], 64)
		measured[m[1]] = append(measured[m[1]], ns)
	}
	row := func(head string, names ...string) {
		for _, name := range names {
			if all := measured[name]; len(all) > 0 {
				slices.Sort(all)
				head += fmt.Sprintf(" %.0f |", all[len(all)/2])
			} else {
				head += " |"
			}
		}
		if !strings.Contains(string(readme), "\n"+head+"\n") {
			t.Errorf("README.md has no row %s, which docs/bench/ordered.txt has", head)
		}
	}
	for _, levels := range []struct{ shown, name string }{{"8", "8"}, {"256", "256"}, {"2^31", "2147483647"}} {
		for _, n := range []int{1, 2, 4, 8} {
			var names []string
			for _, queue := range []string{"ordered", "ordered,batch=8", "ordered,strict", "mutex+container_heap", "mutex+4-ary", "channels", "multiqueue", "smq"} {
				names = append(names, fmt.Sprintf("PushPop/levels=%s/goroutines=%d/queue=%s", levels.name, n, queue))
			}
			row(fmt.Sprintf("| %s | %d |", levels.shown, n), names...)
		}
	}
	for _, levels := range []struct{ shown, name string }{{"1 level", "1"}, {"8 levels", "8"}, {"256 levels", "256"}, {"2^31 levels", "2147483647"}} {
		of := "Levels/levels=" + levels.name + "/moving="
		row("| "+levels.shown+" |", of+"false/lists", of+"false/heap", of+"true/lists", of+"true/heap")
	}
}
