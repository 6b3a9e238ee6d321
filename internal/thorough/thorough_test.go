package thorough

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Only skips a test unless it was asked for, and says how to ask.
func TestOnlyRunsWhenAskedFor(t *testing.T) {
	if os.Getenv("FILCH_INSIDE") != "" {
		Only(t, "is one of these")
		t.Log("it runs")
		return
	}
	for _, c := range []struct{ env, flag, want string }{
		{"=1", "-test.short=false", "it runs"},
		{"=1", "-test.short", "it is one of these, and runs without -short"},
		{"=", "-test.short=false", "it is one of these: set FILCH_THOROUGH=1"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOnlyRunsWhenAskedFor$", "-test.v", c.flag)
		cmd.Env = append(os.Environ(), "FILCH_INSIDE=1", Name+c.env)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("with %s%s and %s: %v\n%s", Name, c.env, c.flag, err, out)
		}
	}
	file := filepath.Join(t.TempDir(), "ran")
	cmd := exec.Command(os.Args[0], "-test.run=^TestOnlyRunsWhenAskedFor$")
	cmd.Env = append(os.Environ(), "FILCH_INSIDE=1", Name+"="+filepath.ToSlash(file))
	out, err := cmd.CombinedOutput()
	if ran, _ := os.ReadFile(file); err != nil || !strings.HasSuffix(string(ran), " TestOnlyRunsWhenAskedFor\n") {
		t.Errorf("it writes that %q ran: %v\n%s", ran, err, out)
	}
}
