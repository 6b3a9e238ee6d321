package flows

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/environ"
)

// With checks, the examples make no mistake, though nodes of some of them panic.
func TestRightGraphsStaySilent(t *testing.T) {
	if testing.Short() || environ.On("FILCH_CHECKS") {
		t.Skip("runs the examples in another process")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run", "^Example")
	cmd.Env = append(os.Environ(), "FILCH_CHECKS=1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "filch: ") {
		t.Errorf("cmd.CombinedOutput(): %v\n%s", err, out)
	}
}
