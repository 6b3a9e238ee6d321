package embedded

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFoldersOfProgramsDiffer(t *testing.T) {
	base := t.TempDir()
	dirs := map[string]string{}
	for _, c := range [][2]string{{"example.com/a", "filch"}, {"example.com/b", "filch"}, {"example.com/a", "other"}, {"example.com", "filch"}, {"a", "filch"}} {
		dir, err := ownFolder(base, c[0], c[1])
		if err != nil || filepath.Dir(dir) != base || dirs[dir] != "" {
			t.Errorf("the folder of %q is %s, of %q too: %v", c, dir, dirs[dir], err)
		}
		dirs[dir] = strings.Join(c[:], "@")
	}
}

// The folder of all programs, of before each had its own, is neither used nor forgotten.
func TestTheSharedFolderIsSaid(t *testing.T) {
	base := t.TempDir()
	shared := filepath.Join(base, "filch")
	if err := os.MkdirAll(filepath.Join(shared, "jetstream"), 0o700); err != nil {
		t.Fatal("os.MkdirAll:", err)
	}
	const program = "example.com/a"
	own := filepath.Join(base, "example.com%2Fa@filch")
	if dir, err := ownFolder(base, program, "filch"); err == nil || !strings.Contains(err.Error(), shared) || !strings.Contains(err.Error(), "rename it to "+own) {
		t.Errorf("beside the shared folder: %s, %v", dir, err)
	}
	if err := os.Rename(shared, own); err != nil {
		t.Fatal("os.Rename:", err)
	}
	if dir, err := ownFolder(base, program, "filch"); dir != own || err != nil {
		t.Errorf("when it is renamed: %s, %v; not %s", dir, err, own)
	}
	if err := os.MkdirAll(filepath.Join(shared, "jetstream"), 0o700); err != nil {
		t.Fatal("os.MkdirAll:", err)
	}
	if dir, err := ownFolder(base, program, "filch"); dir != own || err != nil {
		t.Errorf("when both are there: %s, %v; not %s", dir, err, own)
	}
}

func TestAFolderOfAnotherProgramIsRefused(t *testing.T) {
	const first, second = "example.com/a", "example.com/b"
	for _, c := range []struct {
		name             string
		programs         []string // that open the folder, one after the other
		refused, mention string
	}{
		{"the same", []string{first, first}, "", ""},
		{"another", []string{first, second}, second, first},
		{"built from files, after one with a name", []string{first, fromFiles}, fromFiles, first},
		{"one with a name, after one that was built from files", []string{fromFiles, first, second}, second, first},
		{"without a path", []string{"", "", first}, "", ""},
	} {
		dir := t.TempDir()
		refused := ""
		for _, p := range c.programs {
			err := claim(dir, p, slog.New(slog.DiscardHandler))
			if err == nil {
				continue
			}
			refused = p
			for _, want := range []string{dir, c.mention, c.refused, ownerFile} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v: lacks %q", c.name, err, want)
				}
			}
		}
		if refused != c.refused {
			t.Errorf("%s: the folder is refused to %q, not %q", c.name, refused, c.refused)
		}
	}
}

// A folder of before there were owners is adopted, and that is logged.
func TestAFolderOfNobodyIsAdopted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "jetstream"), 0o700); err != nil {
		t.Fatal("os.Mkdir:", err)
	}
	var log logged
	if err := claim(dir, "example.com/a", slog.New(slog.NewTextHandler(&log, nil))); err != nil || !strings.Contains(log.String(), "is this one's from now on") {
		t.Errorf("claim: %v; logged %q", err, &log)
	}
	if err := claim(dir, "example.com/b", slog.Default()); err == nil {
		t.Error("what was adopted is not refused to another")
	}
}

func TestATestHasNoDefaultFolder(t *testing.T) {
	if _, _, err := (Server{}).Start(t.Context(), "filch"); err == nil || !strings.Contains(err.Error(), "a test has none") || !strings.Contains(err.Error(), "embedded.Server{Dir:") {
		t.Error("Start in a test, without a folder:", err)
	}
}

// Programs as the toolchain builds them: a package has a folder of its own, files have none, and nothing has without a home.
func TestDefaultFoldersOfPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	home := t.TempDir()
	for _, c := range []struct {
		name, arg, home, want string
	}{
		{"a package", "./testdata/program", home, "stored"},
		{"files", "testdata/program/main.go", home, "built from files"},
		{"no home", "./testdata/program", "", "needs a folder: "},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "run", c.arg)
		cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME=", "AppData="+c.home, "GOCACHE="+goEnv(t, "GOCACHE"), "GOPATH="+goEnv(t, "GOPATH"))
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("go run %s, %s: %q, %v; it lacks %q", c.arg, c.name, out, err, c.want)
		}
	}
	const own = "github.com%2Ffilch-go%2Ffilch%2Fcluster%2Fembedded%2Ftestdata%2Fprogram@filch"
	found := ""
	_ = filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == own {
			found = path
		}
		return err
	})
	if !hasTasks(found) {
		t.Errorf("no folder %s with tasks in %s", own, home)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal("exec.CommandContext(t.Context(), \"go\", \"env\", name).Output:", err)
	}
	return strings.TrimSpace(string(out))
}
