package clusterbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// Command returns a command that ends up in [RunNode] with args.
type Command func(args ...string) *exec.Cmd

// sleeper is the name of the handler that sleeps for as many nanoseconds as its argument says, and returns how many it
// took: on a busy machine it wakes up late.
const sleeper = "sleep"

// startedSubject is where a node of another process tells that it has begun with a task.
const startedSubject = "bench.started"

// ackWait is that of the handler sleep: the least that there is.
const ackWait = time.Second

// RunNode is a process of a measurement: a node with the handler sleep, until its input ends. args are the URL of the
// servers, the name of the node and its places.
func RunNode(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("a node of a measurement takes a URL, a name and places")
	}
	places, err := strconv.Atoi(args[2])
	if err != nil || places < 1 {
		return fmt.Errorf("places %q: not a number of at least 1", args[2])
	}
	nc, err := nats.Connect(args[0])
	if err != nil {
		return err
	}
	defer nc.Close()
	pool := filch.New(filch.WithWorkers(places))
	defer pool.Close()
	n, err := cluster.Open(ctx, cluster.WithURL(args[0]), cluster.WithNode(args[1]), cluster.WithPool(pool))
	if err != nil {
		return err
	}
	handleSleep(n, nc)
	fmt.Fprintln(out, "ready")
	_, _ = io.Copy(io.Discard, in)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return n.Close(ctx)
}

// handleSleep gives a node the handler sleep. A worker that sleeps computes nothing, so that more of them than there are
// processors are as good as if each had one.
func handleSleep(n *cluster.Node, nc *nats.Conn) {
	cluster.Handle(n, sleeper, func(ctx context.Context, ns int64) (int64, error) {
		begin := time.Now()
		if info, ok := cluster.TaskOf(ctx); ok && ns >= int64(time.Minute) {
			_ = nc.Publish(startedSubject, []byte(info.ID))
			_ = nc.Flush()
		}
		select {
		case <-time.After(time.Duration(ns)):
		case <-ctx.Done():
		}
		return int64(time.Since(begin)), ctx.Err()
	}, cluster.WithAckWait(ackWait))
}

// process is a process with a node.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
}

// startProcess starts a node in a process of its own, and waits until it is ready.
func startProcess(command Command, u *up, name string, places int) (*process, error) {
	cmd := command(u.urls, name, strconv.Itoa(places))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) != "ready" {
		p.kill()
		return nil, fmt.Errorf("the node %s does not start: %q: %w", name, line, err)
	}
	return p, nil
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// leave lets the node leave, and waits for the process.
func (p *process) leave() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
