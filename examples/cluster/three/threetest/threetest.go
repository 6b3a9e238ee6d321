// Package threetest tests programs that run as three processes.
package threetest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// asProgram says that the binary of the tests is to be the program.
const asProgram = "FILCH_EXAMPLE_PROGRAM"

// Main runs the tests, or, in a process that Run has started, the program.
func Main(m *testing.M, program func()) {
	if os.Getenv(asProgram) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// Run runs the program, and returns what it has written.
func Run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
