package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// What permissions prints is what a server takes; a user without the prefix of its answers is told so.
func TestPermissionsAreForAServer(t *testing.T) {
	status, out, errs := command("permissions", "operator", "--inbox", "_INBOX_me", "--node", "me")
	if status != 0 {
		t.Fatal("command:", errs)
	}
	file := t.TempDir() + "/server.conf"
	text := fmt.Sprintf("listen: 127.0.0.1:-1\njetstream { store_dir: %q }\nauthorization { users: [ { user: me, password: secret, permissions: %s } ] }\n", t.TempDir(), out)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal("os.WriteFile:", err)
	}
	s := configured(t, file)
	nc, err := nats.Connect(s.ClientURL(), nats.UserInfo("me", "secret")) // it listens
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	nc.Close()
	url := "nats://me:secret@" + s.Addr().String()
	as := []string{"--server", url, "--node", "me", "--inbox", "_INBOX_me"}
	expect(t, 1, []string{"there is no such cluster at nats://" + s.Addr().String() + ";"}, append(as, "ls")...)
	expect(t, 1, []string{"--inbox and --node name what the user's permissions do"}, "ls", "--server", url, "--timeout", "1s")

	t.Setenv("NATS_URL", url)
	if _, out, errs := command("ls", "--help"); strings.Contains(out+errs, "secret") {
		t.Error("the help has a password:\n", out, errs)
	}
	var p struct {
		Publish, Subscribe []string
		Responses          bool `json:"allow_responses"`
	}
	asked(t, &p, "permissions", "worker", "--inbox", "_INBOX_me", "--name", "other")
	if !slices.Contains(p.Publish, "other.work.>") || !slices.Contains(p.Subscribe, "other.done.*") || !p.Responses {
		t.Errorf("%+v", p)
	}
}
