package topology

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/filch-go/filch/internal/thorough"
)

// garbage is what a file may have instead of what belongs there.
var garbage = []string{
	"", "\n", "-1", "0", "1", "0-4294967295", "0-65535", "65534", "65536", "99999999999999999999", "+1", "0x10", "1,0", "0,0", "0-1,1-2", "0-1-2",
	"\x00", "\xff\xfe", "0\x00", "Instruction", "Unified", "10 10", "10 -1", "9223372036854775807", "-9223372036854775808", strings.Repeat("0,", 9999),
}

// spoil leaves one in some files of a machine out, has another text in others, and puts folders in the place of a few.
func spoil(files fstest.MapFS, rng *rand.Rand, one int) fstest.MapFS {
	spoilt := fstest.MapFS{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch rng.IntN(one) {
		case 0:
		case 1:
			spoilt[name] = &fstest.MapFile{Data: []byte(garbage[rng.IntN(len(garbage))])}
		case 2:
			spoilt[name] = files[slices.Sorted(maps.Keys(files))[rng.IntN(len(files))]]
		case 3:
			spoilt[name] = &fstest.MapFile{Mode: fs.ModeDir}
		default:
			spoilt[name] = files[name]
		}
	}
	return spoilt
}

// Whatever the files have, distances are symmetric, and each order has all processors once. What is malformed makes an
// error of a few lines at most.
func TestGarbageDoesNoHarm(t *testing.T) {
	trees, err := filepath.Glob("testdata/*.tree")
	if err != nil || len(trees) == 0 {
		t.Fatal(`filepath.Glob("testdata/*.tree"):`, trees, err)
	}
	rng, rounds := rand.New(rand.NewPCG(1, 2)), 200
	if thorough.Sampled() {
		rounds = 60
	}
	for _, tree := range trees {
		files := unpack(t, tree)
		if len(files) > 200 {
			continue // the same in larger
		}
		for range rounds {
			spoilt := spoil(files, rng, 4+rng.IntN(40))
			topo, err := Read(spoilt)
			if err != nil && strings.Count(err.Error(), "\n") > maxReasons {
				t.Errorf("%s: an error of %d lines", tree, strings.Count(err.Error(), "\n")+1)
			}
			if len(topo.Processors) < 100 { // else it is one of the ranges above
				holdsTogether(t, tree, topo)
			}
		}
	}
}
