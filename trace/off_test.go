package trace_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// A Recorder that is off costs forks nothing: fib is compiled to the same instructions as with an engine that has no hooks.
func TestForksAreCompiledAsWithoutHooks(t *testing.T) {
	thorough.Only(t, "compiles the module")
	gotool := thorough.Tool(t, "go")
	hook, err := filepath.Abs("../internal/engine/hook.go")
	if err != nil {
		t.Fatal(`filepath.Abs("../internal/engine/hook.go"):`, err)
	}
	text, err := os.ReadFile(hook)
	if err != nil {
		t.Fatal("os.ReadFile(hook):", err)
	}
	without := regexp.MustCompile(`[a-z.]+\.hooks\.Load\(\) != nil`).ReplaceAll(text, []byte("false"))
	if n := bytes.Count(text, []byte("hooks.Load() != nil")); n < 6 || bytes.Equal(text, without) {
		t.Fatalf("hook.go asks %d times whether there is a hook", n)
	}
	dir := t.TempDir()
	edited, overlay := filepath.Join(dir, "hook.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{hook: edited}})
	if err != nil {
		t.Fatal("json.Marshal(…):", err)
	}
	for name, b := range map[string][]byte{edited: without, overlay: list} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal("os.WriteFile(name, b, 0o666):", err)
		}
	}
	as := instructions(t, gotool, dir, "as")
	off := instructions(t, gotool, dir, "without", "-overlay", overlay)
	if as != off || strings.Count(as, "\n") < 20 {
		t.Errorf("fib is\n%s\nand without hooks\n%s", as, off)
	}
}

var (
	addresses = regexp.MustCompile(`0x[0-9a-f]+`)
	// A variable is shown by its name, or by where it is, which depends on what else there is.
	variables = regexp.MustCompile(`^(MOV\S*|LEAQ) (?:\S+\(SB\)|x\(IP\)),`)
)

// instructions returns those of fib's body, without addresses.
func instructions(t *testing.T, gotool, dir, name string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(dir, name)
	if out, err := exec.Command(gotool, append(append([]string{"build", "-o", binary}, flags...), "./testdata/fib")...).CombinedOutput(); err != nil {
		t.Fatalf("exec.Command(gotool, …).CombinedOutput(): %v\n%s", err, out)
	}
	out, err := exec.Command(gotool, "tool", "objdump", "-s", "^main.body$", binary).CombinedOutput()
	if err != nil {
		t.Fatalf("exec.Command(…).CombinedOutput(): %v\n%s", err, out)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if parts := strings.Fields(line); len(parts) > 3 && strings.Contains(parts[0], ".go:") { // file, address, bytes, instruction
			line = addresses.ReplaceAllString(strings.Join(parts[3:], " "), "x")
			b.WriteString(variables.ReplaceAllString(line, "$1 variable,") + "\n")
		}
	}
	return b.String()
}
