package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// programVariable names, in the environment of a process, the program that it is.
const programVariable = "FILCH_CLUSTERTEST"

// Programs are what the processes of a package's tests can be, by name. A program ends with its function, with status 0.
type Programs map[string]func(args []string)

// Main runs the tests of m and exits, or, in a process that [Start] has started, runs its program and exits. Call it
// from TestMain.
func Main(m *testing.M, programs Programs) {
	Child(programs)
	os.Exit(m.Run())
}

// Child returns at once, but for a process that was started by this package: there it runs the program and exits. A
// command that calls [OpenServers] calls it first in main.
func Child(programs Programs) {
	ready = true
	name := os.Getenv(programVariable)
	if name == "" {
		return
	}
	program := programs[name]
	if name == serverProgram {
		program = runServer
	}
	if program == nil {
		fmt.Fprintf(os.Stderr, "clustertest: there is no program %q\n", name)
		os.Exit(2)
	}
	go func() { // The pipe ends with the process that has started this one.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	program(os.Args[1:])
	os.Exit(0)
}

// ready says that Child was called, and so that this binary can be started again as a program. Only Child sets it.
var ready bool

// Process is a process that was started by this package. Its methods may be called from any goroutine.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}

	mu   sync.Mutex
	out  bytes.Buffer  // what it has written
	more chan struct{} // closed when it has written more
}

// Start starts a program as a process, with the arguments args. It is killed when the test ends.
func Start(t testing.TB, program string, args ...string) *Process {
	t.Helper()
	p, err := startProcess(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// startProcess starts this binary again.
func startProcess(program string, args ...string) (*Process, error) {
	if !ready {
		return nil, errors.New("clustertest: call Main in TestMain, or Child in main")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(self, args...), ended: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), programVariable+"="+program)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // a process that was killed ends with an error
	}()
	return p, nil
}

// Write takes what the process writes. It is not for others.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.out.Write(b)
}

// Output returns what the process has written so far to its standard output and error.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// Line waits until the process has written a line that begins with prefix, and returns the rest of the first one. It returns
// an error when ctx or the process ends first.
func (p *Process) Line(ctx context.Context, prefix string) (string, error) {
	for {
		p.mu.Lock()
		out, more := p.out.String(), p.more
		p.mu.Unlock()
		for line := range strings.Lines(out) {
			rest, ok := strings.CutPrefix(line, prefix)
			if ok && strings.HasSuffix(rest, "\n") {
				return rest[:len(rest)-1], nil
			}
		}
		select {
		case <-more:
		case <-p.ended:
			return "", fmt.Errorf("clustertest: the process has ended without a line %q; it has written:\n%s", prefix, p.Output())
		case <-ctx.Done():
			return "", fmt.Errorf("clustertest: the process has written no line %q: %w; it has written:\n%s", prefix, context.Cause(ctx), p.Output())
		}
	}
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Kill ends the process at once, as kill -9 does, and waits until it has ended. Done twice, it does nothing.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	p.stdin.Close()
}
