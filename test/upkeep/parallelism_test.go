package upkeep

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// The program in docs/parallelism.md runs, and prints what it is there for.
func TestProgramOfParallelismPrintsAProfile(t *testing.T) {
	atRoot(t)
	thorough.Only(t, "compiles a program")
	thorough.Tool(t, "go")
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program.FindStringSubmatch(read(t, "docs/parallelism.md"))[1]), 0o666); err != nil {
		t.Fatal("os.WriteFile(file, …, 0o666):", err)
	}
	out, err := exec.Command("go", "run", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "forks          2047\n") {
		t.Errorf(`exec.Command("go", "run", file).CombinedOutput(): %v
%s`, err, out)
	}
}
