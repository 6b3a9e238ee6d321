package upkeep

import (
	"os/exec"
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
	atRoot(t)
	type mistake struct{ name, told, want string }
	var mistakes []mistake
	var programs []string // two for each: with the mistake, and without
	text := read(t, "docs/mistakes.md")
	at := append(section.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
	for i := range at[:len(at)-1] {
		name, part := text[at[i][2]:at[i][3]], text[at[i][0]:at[i+1][0]]
		both, told := program.FindAllStringSubmatch(part, -1), message.FindStringSubmatch(part)
		if len(both) == 0 && told == nil {
			continue
		}
		if len(both) != 2 || told == nil {
			t.Fatalf("%s: there must be two programs, and what the first one says", name)
		}
		var want []string
		for _, m := range prints.FindAllStringSubmatch(both[1][1], -1) {
			want = append(want, m[1])
		}
		mistakes = append(mistakes, mistake{name, linesOf(told[1]), linesOf(strings.Join(want, "\n"))})
		programs = append(programs, both[0][1], both[1][1])
	}
	if len(mistakes) < 10 {
		t.Errorf("there are %d mistakes only", len(mistakes))
	}
	commands := compile(t, programs)
	for i, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			out, _ := exec.Command(commands[2*i]).CombinedOutput()
			if got := linesOf(string(out)); !strings.Contains(got, m.told) {
				t.Errorf("the program with the mistake says\n%s\nnot\n%s", got, m.told)
			}
			out, err := exec.Command(commands[2*i+1]).CombinedOutput()
			if err != nil || linesOf(string(out)) != m.want {
				t.Errorf("the program without it says\n%s(%v)", out, err)
			}
		})
	}
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
