package upkeep

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// With checks in all pools, the examples make no mistake, though some of them panic.
func TestExamplesMakeNoMistake(t *testing.T) {
	atRoot(t)
	thorough.Only(t, "runs all examples with checks")
	cmd := exec.Command(thorough.Tool(t, "go"), "test", "-count=1", "-v", "-run=^Example", ".", "./flow", "./par", "./strand")
	cmd.Env = append(os.Environ(), "FILCH_CHECKS=1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "filch: ") || strings.Count(string(out), "--- PASS: Example") < 200 {
		t.Errorf("cmd.CombinedOutput(): %v\n%s", err, out)
	}
}
