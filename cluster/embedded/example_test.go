package embedded_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// A server for the nodes of other processes: it listens, asks for a password, stores at most 10 GB, and logs as the program does.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	server := embedded.Server{
		Dir: dir, Listen: "127.0.0.1:0", MaxStore: 10e9, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Users: []embedded.User{{Name: "admin", Password: "$2a$11$W2zko751KUvVy59mUTWmpOdWjpEm5qhcCZRd05GjI/sSOT.xtiHyG"}},
	}
	n, err := cluster.Open(ctx, cluster.WithServer(server)) // this node needs no password
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Trouble(), n.Close(ctx))
	// Output: <nil> <nil>
}

// A user that may only submit, for a node of the name web1.
func ExampleUser() {
	p, err := cluster.PermissionsOf(cluster.Submitter, "filch", "web1", "_INBOX_web1")
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	user := embedded.User{Name: "web1", Password: os.Getenv("PASSWORD_web1"), Permissions: &p}
	_, _, err = embedded.Server{Dir: dir, Listen: "127.0.0.1:0", Users: []embedded.User{user}}.Start(context.Background(), "filch", nats.MaxReconnects(-1))
	fmt.Println(err)
	// Output: cluster: the embedded server: Users[0] has no name or no password
}
