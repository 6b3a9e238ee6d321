package filch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	section  = regexp.MustCompile(`(?m)^## (.*)$`)
	message  = regexp.MustCompile("(?ms)^```text\n(.*?)^```")
	logged   = regexp.MustCompile(`(?m)^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)
	itsPlace = regexp.MustCompile(`\S*[/\\](main\.go:\d+)`)
	itsTime  = regexp.MustCompile(` for=\S+`)
)

// In docs/mistakes.md, each program with a mistake says what stands there, and the one beside it
// says nothing but what it prints.
func TestMistakesAreToldAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	text := read(t, "docs/mistakes.md")
	at := append(section.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
	tested := 0
	for i := range at[:len(at)-1] {
		name, part := text[at[i][2]:at[i][3]], text[at[i][0]:at[i+1][0]]
		programs, told := program.FindAllStringSubmatch(part, -1), message.FindStringSubmatch(part)
		if len(programs) == 0 && told == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if len(programs) != 2 || told == nil {
				t.Fatal("there must be two programs, and what the first one says")
			}
			out, _ := runProgram(t, programs[0][1])
			if got, want := linesOf(out), linesOf(told[1]); !strings.Contains(got, want) {
				t.Errorf("the program with the mistake says\n%s\nnot\n%s", got, want)
			}
			var want []string
			for _, m := range prints.FindAllStringSubmatch(programs[1][1], -1) {
				want = append(want, m[1])
			}
			out, err := runProgram(t, programs[1][1])
			if err != nil || linesOf(out) != linesOf(strings.Join(want, "\n")) {
				t.Errorf("the program without it says\n%s(%v)", out, err)
			}
		})
		tested++
	}
	if tested < 10 {
		t.Errorf("there are %d mistakes only", tested)
	}
}

// runProgram returns what a program writes.
func runProgram(t *testing.T, text string) (string, error) {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "run", file).CombinedOutput()
	return string(out), err
}

// linesOf returns what text says, without what is another at each run: the time of a log, the folder of the
// program, and how Go sets lines off.
func linesOf(text string) string {
	var lines []string
	for line := range strings.Lines(itsTime.ReplaceAllString(logged.ReplaceAllString(itsPlace.ReplaceAllString(text, "$1"), ""), "")) {
		line, _, _ = strings.Cut(line, " [recovered")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
