package upkeep

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// compile compiles programs, each the file of a command that uses our modules, all at once, and returns the files of the commands. go vet finds nothing in them.
func compile(t *testing.T, programs []string) []string {
	t.Helper()
	thorough.Only(t, "compiles programs")
	thorough.Tool(t, "go")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal("os.Getwd():", err)
	}
	dir := t.TempDir()
	work := strings.NewReplacer("\t.\n", "\t"+root+"\n", "./", root+"/", "use (", "use (\n\t.").Replace(read(t, "go.work"))
	write(t, filepath.Join(dir, "go.work"), work)
	write(t, filepath.Join(dir, "go.work.sum"), read(t, "go.work.sum"))
	write(t, filepath.Join(dir, "go.mod"), "module programs\n\ngo 1.26\n")
	var commands []string
	for i, text := range programs {
		name := fmt.Sprint("program", i)
		write(t, filepath.Join(dir, name, "main.go"), text)
		commands = append(commands, filepath.Join(dir, "bin", name))
	}
	for _, args := range []string{"vet ./...", "build -ldflags=-w -o bin/ ./..."} {
		cmd := exec.Command("go", strings.Fields(args)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args, err, out)
		}
	}
	return commands
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal("os.MkdirAll(filepath.Dir(file), 0o777):", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal("os.WriteFile(file, []byte(text), 0o666):", err)
	}
}
