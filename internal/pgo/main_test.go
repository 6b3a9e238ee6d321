package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The overlay's main calls the program's, whose lines stay where they are, for the compiler
// finds the calls of a profile by their lines.
func TestTheProgramIsProfiledAsItIs(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	const src = "package main\n\nfunc main() {\n\tprintln(0)\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
		t.Fatal("os.WriteFile(…):", err)
	}
	overlay, err := overlayOf(dir, tmp)
	if err != nil {
		t.Fatal("overlayOf(dir, tmp):", err)
	}
	got, err := os.ReadFile(filepath.Join(tmp, "main.go"))
	if want := strings.Replace(src, "main()", "program()", 1); err != nil || string(got) != want {
		t.Errorf(`os.ReadFile(filepath.Join(tmp, "main.go")): %v:
%s`, err, got)
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(filepath.Join(dir, "go.mod"), …, 0o644):`, err)
	}
	t.Setenv("GOWORK", "off")
	if err := run(dir, "go", "vet", "-overlay", overlay, "."); err != nil {
		t.Error(`run(dir, "go", "vet", "-overlay", overlay, "."):`, err)
	}
}

func TestAProgramWithoutMainIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := profile(dir); err == nil || !strings.Contains(err.Error(), "main.go") {
		t.Error("profile(dir):", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o644); err != nil {
		t.Fatal("os.WriteFile(…):", err)
	}
	if err := profile(dir); err == nil || err.Error() != "main.go has no function main" {
		t.Error("profile(dir):", err)
	}
}
