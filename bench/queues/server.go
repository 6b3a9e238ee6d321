package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startWait is how long a server may take to be ready.
const startWait = 20 * time.Second

// find returns where a program is: on the path, or where Debian has those of Postgres.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	if len(found) == 0 {
		return "", fmt.Errorf("%s is not installed", program)
	}
	return found[len(found)-1], nil
}

// untilReady starts a server and waits until ready returns nil. stop ends it.
func untilReady(ctx context.Context, cmd *exec.Cmd, ready func() error) (stop func(), err error) {
	log, err := os.CreateTemp("", "queues-log")
	if err != nil {
		return nil, err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt) // both servers end at once then
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	deadline := time.After(startWait)
	for {
		if err = ready(); err == nil {
			return stop, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
			continue
		case <-deadline:
		case <-ended:
		case <-ctx.Done():
		}
		stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s does not start: %w: %.500s", filepath.Base(cmd.Path), err, said)
	}
}
