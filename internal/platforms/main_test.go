package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// A mistake is found on the platform that has it, and there alone: in a package, in its tests, and in tests of another package.
func TestMistakesAreFoundWhereTheyAre(t *testing.T) {
	thorough.Only(t, "lists and checks packages of six platforms")
	t.Setenv("GOWORK", "off")
	files := map[string]string{
		"go.mod":                  "module example.com/m\n\ngo 1.26\n",
		"a.go":                    "package m\n\nimport \"os\"\n\nfunc size() int { return of }\n\nvar _ = os.Args\n",
		"of_linux.go":             "package m\n\nconst of = 1\n",
		"of_windows.go":           "package m\n\nconst of = \"one\"\n",
		"of_netbsd.go":            "package m\n\nconst of = 1 << 40\n", // fits into an int of 64 bits
		"a_test.go":               "package m\n\nfunc Given() int { return given }\n",
		"given_test.go":           "//go:build !plan9\n\npackage m\n\nconst given = 1\n",
		"outside_test.go":         "package m_test\n\nimport \"example.com/m\"\n\nvar _ = m.Given()\n",
		"of_plan9.go":             "package m\n\nconst of = 1\n",
		"of_freebsd.go":           "package m\n\nconst of = 1\n",
		"missing_freebsd_test.go": "package m_test\n\nimport \"example.com/m\"\n\nvar _ = m.Missing()\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(…):", err)
		}
	}
	t.Chdir(dir)
	for platform, want := range map[string]string{
		"linux/amd64":   "",
		"windows/arm64": `a.go:5:26: cannot use of (untyped string constant "one") as int value in return statement`,
		"netbsd/amd64":  "",
		"netbsd/386":    "a.go:5:26: cannot use of (untyped int constant 1099511627776) as int value in return statement (overflows)",
		"plan9/amd64":   "a_test.go:3:27: undefined: given",
		"freebsd/amd64": "missing_freebsd_test.go:5:11: undefined: m.Missing",
		"linux":         `"linux" is no GOOS/GOARCH`,
		"linux/z80":     `"linux/z80" is no GOOS/GOARCH`,
	} {
		err := check(platform, "./...")
		switch {
		case want == "" && err != nil:
			t.Errorf(`check(platform, "./..."): %s: %v`, platform, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, not %s", platform, err, want)
		case want != "" && strings.Count(err.Error(), want) != 1:
			t.Errorf("%s: told more than once: %v", platform, err)
		}
	}
	if err := check("linux/amd64", "./missing"); err == nil || !strings.Contains(err.Error(), "go list") {
		t.Error("a package that is missing:", err)
	}
}
