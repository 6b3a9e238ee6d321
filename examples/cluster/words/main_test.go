package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch/examples/cluster/three/threetest"
)

func TestMain(m *testing.M) { threetest.Main(m, main) }

func TestThreeProcessesCountWhatIsThere(t *testing.T) {
	folder := t.TempDir()
	for i := range 100 {
		if err := os.Mkdir(filepath.Join(folder, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal("os.Mkdir:", err)
		}
		text := strings.Repeat("once, twice twice; ", i) + strings.Repeat(".", bytesOfTask/2)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i), "text"), []byte(text), 0o600); err != nil {
			t.Fatal("os.WriteFile:", err)
		}
	}
	out := threetest.Run(t, "-top", "2", "-files", "t*", folder)
	for _, want := range []string{"100 files in ", "    9900 twice\n", "    4950 once\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}
