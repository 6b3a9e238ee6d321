package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
)

var (
	named  = regexp.MustCompile("`go run ./examples/broken (\\w+)`")
	blocks = regexp.MustCompile("(?ms)^```(go|text)\n(.*?)^```")

	// What differs from run to run.
	stamps    = regexp.MustCompile(`(?m)^ *[\d.]+us +`)
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|µs)\b`)
	numbers   = regexp.MustCompile(`\b(worker|task) [\d.]+`)
	stalls    = regexp.MustCompile(`\(\d+ times?\)`)
	spaces    = regexp.MustCompile(` +`)
)

// plain returns the lines of a text without what differs from run to run.
func plain(text string) []string {
	text = stamps.ReplaceAllString(text, "")
	text = durations.ReplaceAllString(text, "TIME")
	text = numbers.ReplaceAllString(text, "$1 N")
	text = stalls.ReplaceAllString(text, "(N times)")
	return strings.Split(strings.TrimSpace(spaces.ReplaceAllString(text, " ")), "\n")
}

// missing returns a line of want that is not in got, or "".
func missing(got, want string) string {
	lines := map[string]int{}
	for _, line := range plain(got) {
		lines[line]++
	}
	for _, line := range plain(want) {
		if lines[line]--; lines[line] < 0 {
			return line
		}
	}
	return ""
}

// Each program of docs/debugging.md gets stuck, and looks as it says there, and the one without the mistake
// ends.
func TestBrokenProgramsLookAsDocumented(t *testing.T) {
	thorough.Only(t, "compiles a program")
	command := filepath.Join(t.TempDir(), "broken")
	if out, err := exec.Command("go", "build", "-o", command, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	doc, err := os.ReadFile("../../docs/debugging.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/debugging.md"):`, err)
	}
	done := map[string]bool{}
	for part := range strings.SplitSeq(string(doc), "\n## ") {
		m := named.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		name := m[1]
		done[name] = true
		t.Run(name, func(t *testing.T) {
			all := blocks.FindAllStringSubmatch(part, -1)
			if len(all) != 4 || all[0][1] != "go" || all[1][1] != "text" || all[2][1] != "text" || all[3][1] != "go" {
				t.Fatal("there must be a program, what Dump and the trace say of it, and the program without the mistake")
			}
			code, err := os.ReadFile(name + ".go")
			if err != nil || !bytes.Contains(code, []byte(all[0][2])) || !bytes.Contains(code, []byte(all[3][2])) {
				t.Errorf("%s.go has other programs, %v", name, err)
			}
			for try := 1; ; try++ { // the machine may be busy
				out, err := exec.Command(command, name).Output()
				dump, text, _ := strings.Cut(string(out), "\n\n")
				line, where := missing(dump, all[1][2]), "Dump"
				if line == "" {
					line, where = missing(text, all[2][2]), "the trace"
				}
				if line == "" && err == nil {
					break
				}
				if try == 5 {
					t.Fatalf("%s does not say\n%s\nbut\n%s(%v)", where, line, out, err)
				}
			}
			cured := filch.New(programs[name].options...)
			programs[name].cured(cured)
			cured.Close()
		})
	}
	if len(done) != len(programs) {
		t.Errorf("documented are %v", done)
	}
}

// The command shows both, and tells how it is called.
func TestRun(t *testing.T) {
	var out, stderr strings.Builder
	if status := run([]string{"channel"}, 20*time.Millisecond, &out, &stderr); status != 0 || !strings.Contains(out.String(), "task eats") || !strings.Contains(out.String(), `starts task`) {
		t.Errorf("status %d: %s%s", status, &out, &stderr)
	}
	for _, args := range [][]string{nil, {"x"}, {"leaf", "limit"}} {
		stderr.Reset()
		if status := run(args, 0, &out, &stderr); status != 2 || stderr.String() != "broken: name one program: channel, circle, leaf, limit, mutex\n" {
			t.Errorf("%v: status %d: %s", args, status, &stderr)
		}
	}
}
