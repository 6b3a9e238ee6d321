// Package thorough is for tests that compile programs, judge what is compiled, or sweep through more than kills a mistake. They
// take longer than all others together, and a change seldom breaks one. So they run with FILCH_THOROUGH=1, as in .ci/run.
package thorough

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Name is the variable of the environment that turns these tests on. If it names a file, with a slash, each writes there that it runs:
// so .ci/run knows that all have run.
const Name = "FILCH_THOROUGH"

// On reports whether these tests run. It asks each time, since go test keeps results by what a test asks of the environment once it runs.
func On() bool { return os.Getenv(Name) != "" }

// Sampled reports whether tests that sweep through many sizes, seeds or rounds take the few that kill mistakes, in place of all:
// unless these tests run, or the long forms.
func Sampled() bool { return testing.Short() || !On() && os.Getenv("FILCH_LONG") == "" }

// Only skips t unless these tests run; why says what it does. It is skipped with -short as well: no setting of the runtime, no platform and
// no race detector changes what it judges.
func Only(t testing.TB, why string) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("it " + why + ", and runs without -short")
	case !On():
		t.Skip("it " + why + ": set " + Name + "=1")
	default:
		note(t)
	}
}

// note writes that t runs, if somebody wants to know.
func note(t testing.TB) {
	name := os.Getenv(Name)
	if !strings.Contains(name, "/") {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, filepath.Base(os.Args[0]), t.Name()); err != nil {
		t.Fatal(err)
	}
}

// Tool returns where a program is that t needs. Without it, t is skipped, and fails if nothing that is thorough may be skipped.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && On() {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	return path
}
