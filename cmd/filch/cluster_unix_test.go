//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An interrupt from the keyboard goes to all processes that were started there. The node ends, and its programs end as they would.
func TestAnInterruptLetsProgramsEnd(t *testing.T) {
	startCluster(t)
	dir := t.TempDir()
	for _, name := range []string{"began", "end"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal("syscall.Mkfifo:", err)
		}
	}
	node := exec.Command(os.Args[0], "cluster", "node", "--handler", "shell", "--places", "1", "--", "sh", "-c", "echo >began; read line <end; echo 5")
	node.Dir = dir
	node.Env = append(os.Environ(), asProgram+"=filch")
	node.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal("node.StdoutPipe:", err)
	}
	if err := node.Start(); err != nil {
		t.Fatal("node.Start:", err)
	}
	defer node.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, "runs tasks of shell") {
		t.Fatal(line, err)
	}
	for {
		status, _, errs := command("submit", "shell", "--id", "a", "--no-wait")
		if status == 0 {
			break
		}
		if !strings.Contains(errs, "no node has a handler") { // it has just started
			t.Fatal("command:", errs)
		}
	}
	if _, err := os.ReadFile(filepath.Join(dir, "began")); err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	if err := syscall.Kill(-node.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal("syscall.Kill:", err)
	}
	end, err := os.OpenFile(filepath.Join(dir, "end"), os.O_RDWR, 0) // it opens, too, if nobody reads
	if err != nil {
		t.Fatal("os.OpenFile:", err)
	}
	defer end.Close()
	if _, err := end.WriteString("\n"); err != nil {
		t.Fatal("end.WriteString:", err)
	}
	if err := node.Wait(); err != nil {
		t.Error("node: ", err)
	}
	if task := untilState(t, "a", "done"); task["result"] != 5.0 {
		t.Error(task)
	}
}
