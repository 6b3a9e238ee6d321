package upkeep

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// The fast paths must stay within the compiler's budget for inlining; that is
// where they have their speed from.
func TestFastPathsAreInlined(t *testing.T) {
	atRoot(t)
	thorough.Only(t, "compiles a package")
	out, err := exec.Command(thorough.Tool(t, "go"), "build", "-gcflags=-m", "./internal/workload").CombinedOutput()
	if err != nil {
		t.Fatalf("exec.Command(…).CombinedOutput(): %v\n%s", err, out)
	}
	for _, f := range []string{"(*Frame[go.shape.int64,go.shape.int64]).Fork",
		"(*Frame[go.shape.int64,go.shape.int64]).Join", "(*Frame[go.shape.int64,go.shape.int64]).Call", "(*Link[go.shape.int64,go.shape.int64]).Fork",
		"(*Link[go.shape.int64,go.shape.int64]).Next", "(*Link[go.shape.int64,go.shape.int64]).TakeBack"} {
		if !strings.Contains(string(out), "inlining call to filch."+f) {
			t.Errorf("%s is not inlined", f)
		}
	}
}
