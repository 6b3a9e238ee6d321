package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// ownerFile has the path of the main package of the program whose tasks are in a folder: another program would run them as
// its own, if its handlers have the same names.
const ownerFile = "filch.owner"

// fromFiles is what the toolchain calls a main package that was given as files.
const fromFiles = "command-line-arguments"

// program returns the path of the main package of this program, as far as the build says it. In a test it is the package that is tested.
func program() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return b.Path
}

// isName reports whether the path of a main package tells programs apart.
func isName(program string) bool { return program != "" && program != fromFiles }

// defaultFolder returns the folder of a program's own for a cluster, below the folder of the user's configuration.
func defaultFolder(program, cluster string) (string, error) {
	var why string
	config, err := os.UserConfigDir()
	switch {
	case testing.Testing():
		why = "a test has none of its own (t.TempDir() is one)"
	case program == fromFiles:
		why = "this program was built from files and not from a package (as by go run . or go build), so it has no name"
	case program == "":
		why = "the build does not say the path of this program's main package"
	case err != nil:
		why = err.Error()
	default:
		return ownFolder(filepath.Join(config, "filch"), program, cluster)
	}
	return "", fmt.Errorf("cluster: the embedded server needs a folder: %s: give one, as in cluster.WithServer(embedded.Server{Dir: \"tasks\"})", why)
}

// ownFolder is defaultFolder below a folder. Names of clusters have no @, and paths of packages neither.
func ownFolder(base, program, cluster string) (string, error) {
	dir := filepath.Join(base, url.PathEscape(program)+"@"+cluster)
	shared := filepath.Join(base, cluster) // of all programs, before each had its own
	if hasTasks(shared) && !exists(dir) {
		return "", fmt.Errorf("cluster: the folder %s may have tasks of this program, %s: it was that of all programs, which now have one each: "+
			"rename it to %s if the tasks are this program's, or else make that folder", shared, program, dir)
	}
	return dir, nil
}

// claim makes a folder, which this process has locked, that of a program. It returns an error if it is another's.
func claim(dir, program string, log *slog.Logger) error {
	file := filepath.Join(dir, ownerFile)
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	owner := strings.TrimSpace(string(data))
	switch {
	case owner == program:
		return nil
	case owner != "":
		return fmt.Errorf("cluster: the folder %s belongs to the program %s, and this is the program %q: give this one a folder of its own by "+
			"embedded.Server{Dir: ...}; or remove %s if the tasks in it are this program's", dir, owner, program, file)
	case !isName(program):
		return nil
	}
	if hasTasks(dir) {
		log.Info("filch cluster: the folder belonged to no program, and is this one's from now on", "folder", dir, "program", program)
	}
	if err := os.WriteFile(file+".new", []byte(program+"\n"), 0o600); err != nil {
		return fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	return nil
}

// hasTasks reports whether a folder has files of a server.
func hasTasks(dir string) bool { return exists(filepath.Join(dir, "jetstream")) }

func exists(path string) bool { _, err := os.Stat(path); return err == nil }
