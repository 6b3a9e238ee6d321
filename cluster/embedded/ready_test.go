package embedded_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster/embedded"
)

// A server alone is ready for one replica.
func ExampleReady() {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	nc, stop, err := embedded.Server{Dir: dir, NoSync: true}.Start(ctx, "example")
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	defer nc.Close()
	fmt.Println(embedded.Ready(ctx, nc, 1))
	// Output: <nil>
}

func TestServersThatAreNeverReady(t *testing.T) {
	nc, stop, err := embedded.Server{Dir: t.TempDir(), NoSync: true}.Start(t.Context(), "alone")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := embedded.Ready(ctx, nc, 3); err == nil || !strings.Contains(err.Error(), "replicas > 1 not supported") {
		t.Error("three replicas on one server:", err)
	}
}
