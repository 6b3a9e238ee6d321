// Package site tests the pages that site/build makes.
package site

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/thorough"
)

const dist = ".vitepress/dist"

var (
	anchors = regexp.MustCompile(` id="([^"]+)"`)
	linked  = regexp.MustCompile(`<a [^>]*href="/filch/([^"#]*)(?:#([^"]*))?"`)
	shown   = regexp.MustCompile(`<(?:img|iframe|source|script|link) [^>]*(?:src|href)="([^"#]*)`)
)

// The site is built from the Markdown of the repository: its links, anchors and pictures lead somewhere, nothing in it is loaded from
// elsewhere, and in a browser it fits a phone, has both themes, is accessible and finds words. browser/page.mjs has the steps.
func TestSite(t *testing.T) {
	thorough.Only(t, "builds the site")
	if runtime.GOOS == "windows" {
		t.Skip("site/build makes a symbolic link")
	}
	browser.Need(t)
	if out, err := exec.CommandContext(t.Context(), "./build").CombinedOutput(); err != nil {
		t.Fatalf("site/build: %v\n%s", err, out)
	}
	pages := read(t)
	for name, text := range pages {
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			to := m[1]
			if to == "" || strings.HasSuffix(to, "/") {
				to += "index"
			}
			to = strings.TrimSuffix(to, ".html")
			if _, err := os.Stat(filepath.Join(dist, to+".html")); err != nil {
				t.Errorf("%s: %s: %v", name, m[0], err)
			} else if m[2] != "" && pages[to+".html"] != "" && !has(pages[to+".html"], m[2]) {
				t.Errorf("%s: %s: there is no such heading", name, m[0])
			}
		}
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			file, ours := strings.CutPrefix(m[1], "/filch/")
			if _, err := os.Stat(filepath.Join(dist, file)); m[1] != "" && !strings.HasPrefix(m[1], "data:") && (!ours || err != nil) {
				t.Errorf("%s: %s is loaded from elsewhere, or not there", name, m[1])
			}
		}
	}
	s := &browser.Server{Handler: http.StripPrefix("/filch/", http.FileServer(http.Dir(dist)))}
	s.Start(t, "127.0.0.1:0")
	defer s.Stop()
	if steps := browser.Drive(t, "browser", func(string) {}, fmt.Sprintf("http://%s/filch/", s.Address), strings.Join(sample(pages), ",")); steps < 4 {
		t.Errorf("there were %d steps", steps)
	}
}

// read returns the pages that were built, by the names of their files.
func read(t *testing.T) map[string]string {
	files, err := filepath.Glob(filepath.Join(dist, "*.html"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	pages := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(file)] = string(b)
	}
	return pages
}

func has(page, anchor string) bool {
	for _, m := range anchors.FindAllStringSubmatch(page, -1) {
		if m[1] == anchor {
			return true
		}
	}
	return false
}

// sample returns the pages that are looked at in the browser: all, if the browser's checks run whole.
func sample(pages map[string]string) []string {
	names := []string{"index.html", "choosing.html", "theory.html"}
	if !browser.Whole() {
		return names
	}
	for name := range pages {
		if name != "404.html" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[3:])
	return names
}
