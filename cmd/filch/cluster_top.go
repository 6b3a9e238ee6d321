package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/filch-go/filch/cluster"
)

// top shows a cluster again and again.
type top struct {
	*clusterOptions
	out  io.Writer
	seen map[string][2]cluster.NodeInfo // what each node told last, and before
}

// run shows the cluster until ctx ends, or as often as rounds says, if it is not 0. Servers that do not answer are waited for.
func (t *top) run(ctx context.Context, n *cluster.Node, every time.Duration, rounds int) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for round := 1; ; round++ {
		v, err := viewOf(ctx, n)
		if ctx.Err() != nil {
			return nil
		}
		if err := t.show(v, err); err != nil {
			return err
		}
		if round == rounds {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// show shows the cluster, or why there is nothing to show.
func (t *top) show(v clusterView, err error) error {
	if t.json {
		if err != nil {
			return err
		}
		return json.NewEncoder(t.out).Encode(v)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "cluster %s, %s\n\n", t.name, time.Now().Format(time.TimeOnly))
	if err != nil {
		fmt.Fprintf(&b, "%v; trying again\n", err)
	} else {
		v.print(&b, t.before(v.Nodes))
	}
	if f, ok := t.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return repaint(f, b.Bytes())
	}
	_, err = fmt.Fprintln(t.out, b.String())
	return err
}

// before returns what nodes told before they told what is now.
func (t *top) before(nodes []cluster.NodeInfo) map[string]cluster.NodeInfo {
	seen := map[string][2]cluster.NodeInfo{}
	before := map[string]cluster.NodeInfo{}
	for _, n := range nodes {
		of := t.seen[n.Name]
		if !of[0].Seen.Equal(n.Seen) {
			of = [2]cluster.NodeInfo{n, of[0]}
		}
		seen[n.Name], before[n.Name] = of, of[1]
	}
	t.seen = seen
	return before
}

// repaint replaces what is on a terminal. Lines that do not fit are cut, so that each stays a line.
func repaint(f *os.File, text []byte) error {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width, height = 80, 24
	}
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	for i, line := range lines {
		if i == height-1 {
			fmt.Fprintf(&b, "%d lines more\x1b[K", len(lines)-i)
			break
		}
		runes := []rune(string(line))
		b.WriteString(string(runes[:min(len(runes), width)]))
		b.WriteString("\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	_, err = f.Write(b.Bytes())
	return err
}
