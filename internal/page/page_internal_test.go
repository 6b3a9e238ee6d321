package page

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/filch-go/filch/internal/browser"
)

// What is vendored is the version of the script, with its licence.
func TestWhatIsVendoredIsTheVersionOfTheScript(t *testing.T) {
	script, err := os.ReadFile("vendor.sh")
	if err != nil {
		t.Fatal(`os.ReadFile("vendor.sh"):`, err)
	}
	version := regexp.MustCompile(`(?m)^version=(.*)$`).FindSubmatch(script)
	text, err := embedded.ReadFile("files/uplot.js")
	if err != nil || !bytes.Contains(text[:100], append([]byte("(v"), version[1]...)) {
		t.Errorf("uplot.js begins with %.60q; vendor.sh fetches %s; %v", text, version[1], err)
	}
	if text, err = embedded.ReadFile("files/uplot.LICENSE.txt"); !bytes.Contains(text, []byte("MIT License")) {
		t.Errorf("there is no licence: %v", err)
	}
}

func TestPagesNeedNothingElse(t *testing.T) { browser.CheckFiles(t, embedded) }
