// Command release makes the modules of this repository ready to be tagged, and checks
// that a tag of them can be installed, before there is one:
//
//	go run ./internal/release prepare v0.1.0
//	go run ./internal/release check v0.1.0
//	go run ./internal/release tidy
//
// Prepare writes the version, and the root module's checksums, into the modules that
// require it. Check packs the modules as a module proxy would serve them, and installs
// the command from there. Tidy is go mod tidy for the modules that require the root: that
// command does not know the workspace, and the root's version need not be published yet.
// CONTRIBUTING.md says where they have their place in a release.
package main

import (
	"fmt"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var semver = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func run(args []string) error {
	verb, version := "", ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch {
	case verb == "tidy" && len(args) == 1:
	case (verb == "prepare" || verb == "check") && len(args) == 2:
		if version = args[1]; !semver.MatchString(version) {
			return fmt.Errorf("version %q is not like v1.2.3", version)
		}
	default:
		return fmt.Errorf("%q: want tidy, or prepare or check and a version", args)
	}
	r, err := newRepository(".", true)
	if err != nil {
		return err
	}
	defer r.close()
	switch verb {
	case "tidy":
		return r.tidy()
	case "prepare":
		return r.prepare(version)
	}
	if err := r.check(version); err != nil {
		return err
	}
	fmt.Printf("All is well. To release:\n\n\tgit tag %s\n\tgit tag %s/%s\n\tgit push origin %[1]s %s/%s\n", version, command, version, command, version)
	return nil
}
