package upkeep

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// atRoot has t name files from the root of the repository, which is what is judged here. It cannot be done once in TestMain: what is
// opened is noted only while tests run, and go test would take results from its cache though files have changed.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

// Tests that take an order or an overflow at random choose among all that there are.
func TestRandomTestsKnowEachOrderAndOverflow(t *testing.T) {
	if next := filch.Order(len(rig.Orders)).String(); !strings.HasPrefix(next, "Order(") {
		t.Errorf("rig.Orders lacks %s", next)
	}
	if next := filch.Overflow(len(rig.Overflows)).String(); !strings.HasPrefix(next, "Overflow(") {
		t.Errorf("rig.Overflows lacks %s", next)
	}
}

// Whatever names tests by a pattern names some, so that a test that is renamed is not left out in silence.
func TestPatternsOfTestsMatchSome(t *testing.T) {
	atRoot(t)
	var tests []string
	if err := filepath.WalkDir(".", func(name string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example)\w*)\(`).FindAllSubmatch(text, -1) {
			tests = append(tests, string(m[1]))
		}
		return err
	}); err != nil {
		t.Fatal(`filepath.WalkDir(".", …):`, err)
	}
	named := regexp.MustCompile(`(?m)(?: -run | -skip | -bench |^unchecked=)["']?([^\s"'$-][^\s"']*)`)
	for _, name := range []string{".ci/run", "Makefile", ".github/workflows/ci.yml", ".github/workflows/long.yml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal("os.ReadFile(name):", err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			for pattern := range strings.SplitSeq(strings.ReplaceAll(string(m[1]), "$$", "$"), "|") {
				if of, err := regexp.Compile(pattern); err != nil || !slices.ContainsFunc(tests, of.MatchString) {
					t.Errorf("%s: no test is named by %s", name, pattern)
				}
			}
		}
	}
}
