package explore

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts into testdata/transcripts, instead of comparing them")

// What happens in a few small programs, event by event, is what the files in testdata/transcripts
// say, on any number of processors.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	kept := filepath.Join("testdata", "transcripts")
	drive := unchanged(t)
	if *update {
		write(t, drive, kept, "1")
	}
	for _, procs := range []string{"1", "8"} {
		dir := t.TempDir()
		write(t, drive, dir, procs)
		for _, pair := range [][2]string{{dir, kept}, {kept, dir}} { // neither has files that the other has not
			files, err := filepath.Glob(filepath.Join(pair[0], "*.txt"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%d files in %s; %v", len(files), pair[0], err)
			}
			for _, file := range files {
				compare(t, filepath.Join(dir, filepath.Base(file)), filepath.Join(kept, filepath.Base(file)))
			}
		}
	}
}

// write has the transcripts written into dir.
func write(t *testing.T, drive, dir, procs string) {
	t.Helper()
	cmd := exec.Command(drive, "-transcripts", dir)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+procs)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cmd.CombinedOutput(): %v\n%s", err, out)
	}
}

// compare tells the first line in which two files differ.
func compare(t *testing.T, made, kept string) {
	t.Helper()
	got, err := os.ReadFile(made)
	if err != nil {
		t.Errorf("%v: it is kept, and not made any more", err)
		return
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Errorf("%v: it is not kept; -update writes it", err)
		return
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	n := 0
	for n < min(len(a), len(b)) && bytes.Equal(a[n], b[n]) {
		n++
	}
	line := func(lines [][]byte) []byte {
		if n < len(lines) {
			return lines[n]
		}
		return []byte("its end")
	}
	t.Errorf("%s, line %d, is now\n%s\nand was\n%s\nIf that is meant, -update writes it.", kept, n+1, line(a), line(b))
}
