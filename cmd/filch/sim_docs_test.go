package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

// docs/simulator.md has what its commands print.
func TestSimulatorDocsAreReproduced(t *testing.T) {
	thorough.Only(t, "runs what a page shows")
	if race.Enabled {
		t.Skip("runs simulations, each on one goroutine")
	}
	t.Chdir("../..")
	text, err := os.ReadFile("docs/simulator.md")
	if err != nil {
		t.Fatal(`os.ReadFile("docs/simulator.md"):`, err)
	}
	blocks := regexp.MustCompile("(?s)```text\n\\$ filch sim ([^\n]*)\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Error("there are no commands in docs/simulator.md")
	}
	for _, b := range blocks {
		if now := reproduce(t, string(b[1]), false); now != string(b[2]) {
			t.Errorf("filch sim %s prints\n%sdocs/simulator.md has\n%s", b[1], now, b[2])
		}
	}
}
