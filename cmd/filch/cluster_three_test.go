package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// Three servers go on when one of them is lost, and end with the command. The loss is part of the long form.
func TestThreeServersGoOnWhenOneIsLost(t *testing.T) {
	thorough.Only(t, "starts servers, and interrupts them")
	if runtime.GOOS == "windows" {
		t.Skip("interrupts servers")
	}
	base := freePorts(t)
	server := exec.Command(os.Args[0], "cluster", "server", "--three", "--no-sync", "--dir", t.TempDir(), "--listen", base)
	server.Env = append(os.Environ(), asProgram+"=filch")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal("server.StdoutPipe:", err)
	}
	var errs bytes.Buffer
	server.Stderr = &errs
	if err := server.Start(); err != nil {
		t.Fatal("server.Start:", err)
	}
	defer server.Process.Kill()
	var pids [3]int
	var urls string
	for i := range pids {
		var n int
		var url string
		if _, err := fmt.Fscanf(out, "server%d: process %d, %s\n", &n, &pids[i], &url); err != nil || n != i {
			t.Fatal(i, err, errs.String())
		}
	}
	if _, err := fmt.Fscanln(out, &urls); err != nil {
		t.Fatal("fmt.Fscanln:", err)
	}
	t.Setenv("NATS_URL", urls)
	startNode(t, "upper", "--text", "--replicas", "3", "--timeout", "30s")
	expect(t, 0, []string{"ONE"}, "submit", "upper", "--text", "one")
	if os.Getenv("FILCH_LONG") != "" {
		goesOnWithTwo(t, pids[0])
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal("server.Process.Signal:", err)
	}
	go io.Copy(io.Discard, out)
	if err := server.Wait(); err != nil {
		t.Error("server: ", err, errs.String())
	}
	if l, err := net.Listen("tcp", strings.TrimPrefix(strings.Split(urls, ",")[1], "nats://")); err != nil {
		t.Error("a server is left: ", err)
	} else {
		l.Close()
	}
}

// goesOnWithTwo kills one of three servers and submits a task to the others.
func goesOnWithTwo(t *testing.T, pid int) {
	t.Helper()
	lost, err := os.FindProcess(pid)
	if err == nil {
		err = lost.Kill()
	}
	if err != nil {
		t.Fatal("lost.Kill:", err)
	}
	for deadline := time.Now().Add(time.Minute); ; { // until the two have a leader
		status, out, errs := command("submit", "upper", "--text", "two", "--timeout", "3s")
		if status == 0 && out == "TWO\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with two servers: status %d, %s%s", status, out, errs)
		}
	}
}

// freePorts returns an address from which on there are the ports of three servers.
func freePorts(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := freeAddress(t)
		host, port, err := splitAddress(address)
		if err != nil {
			t.Fatal("splitAddress:", err)
		}
		free := port < 65535-1002
		for _, p := range []int{port + 1, port + 2, port + 1000, port + 1001, port + 1002} {
			l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, p))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return address
		}
	}
	t.Fatal("there are no free ports")
	return ""
}
