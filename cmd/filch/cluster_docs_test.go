package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/thorough"
)

// The three servers with TLS and users that docs/cluster.md sets up take tasks of the users that it says.
func TestServersAreSetUpAsDocumented(t *testing.T) {
	thorough.Only(t, "starts three servers and two nodes")
	thorough.Tool(t, "sh")
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	dir := t.TempDir()
	for _, user := range []string{"admin", "worker1", "web1", "sys"} {
		t.Setenv("PASSWORD_"+user, "secret-"+user)
	}
	runDocumented(t, dir, block(t, string(text), "sh"))
	certificates(t, dir)
	urls := startDocumented(t, dir, block(t, string(text), "conf"))

	t.Setenv(asProgram, "filch")
	as := func(user string, args ...string) []string {
		list := strings.ReplaceAll(strings.Join(urls, ","), "tls://", "tls://"+user+":secret-"+user+"@")
		return append([]string{"--server", list, "--node", user, "--inbox", "_INBOX_" + user, "--tls-ca", dir + "/ca.pem", "--tls-cert", dir + "/node.pem", "--tls-key", dir + "/node.key"}, args...)
	}
	for _, user := range []string{"admin", "worker1"} { // the first one makes the cluster
		cmd := exec.Command(os.Args[0], append([]string{"cluster"}, as(user, "node", "--replicas", "3", "--handler", "echo", "--", "cat")...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal("cmd.StdoutPipe:", err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal("cmd.Start:", err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, user+" runs tasks of echo") {
			t.Fatal(line, err)
		}
	}
	poll.Until(t, 30*time.Second, "the handler is there", func() (bool, any) {
		var v clusterView
		asked(t, &v, as("admin", "ls")...)
		return len(v.Nodes) == 2 && hasQueue(v, "echo"), v
	})
	expect(t, 0, []string{"[5]\n"}, as("web1", "submit", "echo", "[5]")...)
	expect(t, 1, []string{"Permissions Violation"}, as("web1", "dead", "--timeout", "1s")...)
}

// block returns the block of a document that is in a language.
func block(t *testing.T, text, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks are in %s", len(found), language)
	}
	return found[0][1]
}

// runDocumented runs a script in a folder, with this binary as filch.
func runDocumented(t *testing.T, dir, script string) {
	t.Helper()
	filch := fmt.Sprintf("#!/bin/sh\n%s=filch exec %q \"$@\"\n", asProgram, os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "filch"), []byte(filch), 0o700); err != nil {
		t.Fatal("os.WriteFile:", err)
	}
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// startDocumented starts three servers by the configuration of the first one, and waits until they have found together.
func startDocumented(t *testing.T, dir, text string) (urls []string) {
	var all []*server.Server
	addresses := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		for _, port := range []string{"4222", "6222"} {
			addresses[name+".example:"+port] = freeAddress(t)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		own := strings.NewReplacer("server_name: a", "server_name: "+name, "listen: a.", "listen: "+name+".", `"a.`, `"`+name+`.`, "/var/lib/nats", filepath.ToSlash(t.TempDir())).Replace(text)
		for from, to := range addresses {
			own = strings.ReplaceAll(own, from, to)
		}
		own = regexp.MustCompile(`"(\w+\.(pem|key))"`).ReplaceAllString(own, `"`+filepath.ToSlash(dir)+`/$1"`)
		file := filepath.Join(dir, name+".conf")
		if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
			t.Fatal("os.WriteFile:", err)
		}
		all = append(all, configured(t, file))
		urls = append(urls, "tls://"+addresses[name+".example:4222"])
	}
	poll.Until(t, 30*time.Second, "the servers have found together", func() (bool, any) {
		i := slices.IndexFunc(all, (*server.Server).JetStreamIsLeader)
		return i >= 0 && len(all[i].JetStreamClusterPeers()) == 3 && !slices.ContainsFunc(all, func(s *server.Server) bool { return !s.JetStreamIsCurrent() }), i
	})
	return urls
}

// configured starts a server by its configuration, until the test ends.
func configured(t *testing.T, file string) *server.Server {
	t.Helper()
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal("server.ProcessConfigFile:", err)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal("server.NewServer:", err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// certificates makes an authority, and certificates for three servers and a node, in a folder.
func certificates(t *testing.T, dir string) {
	t.Helper()
	write := func(file, kind string, der []byte) {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal("os.WriteFile:", err)
		}
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var signer *ecdsa.PrivateKey
	for i, name := range []string{"ca", "a", "b", "c", "node"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal("ecdsa.GenerateKey:", err)
		}
		cert := authority
		if i == 0 {
			signer = key
		} else {
			cert = &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, NotAfter: authority.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
				KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
		}
		der, err := x509.CreateCertificate(rand.Reader, cert, authority, &key.PublicKey, signer)
		if err != nil {
			t.Fatal("x509.CreateCertificate:", err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal("x509.MarshalPKCS8PrivateKey:", err)
		}
		write(name+".pem", "CERTIFICATE", der)
		write(name+".key", "PRIVATE KEY", secret)
	}
}
