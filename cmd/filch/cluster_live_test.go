package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/filch-go/filch/cmd/filch/clusterlive"
)

// The page and what it shows are there until the command is interrupted.
func TestThePageOfAClusterIsThereUntilTheInterrupt(t *testing.T) {
	startCluster(t)
	startNode(t, "upper")
	live := func(ctx context.Context, out io.Writer) error {
		o := &clusterOptions{}
		cmd := clusterLiveCommand(o)
		o.addFlags(cmd)
		cmd.SetArgs([]string{})
		cmd.SetOut(out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(ctx)
	}
	withPage(t, live, func(url string) {
		if status, page := fetch(t, url); status != http.StatusOK || !strings.HasPrefix(page, "<!doctype html>") || !strings.Contains(page, `id="nodes"`) {
			t.Errorf("%d, %.50q", status, page)
		}
		if v := firstView(t, url); len(v.Nodes) != 1 || len(v.Queues) == 0 || v.Queues[0].Handler != "upper" || v.Dead == nil {
			t.Errorf("%+v", v)
		}
	})
}

// firstView returns what the page is told first of a cluster.
func firstView(t *testing.T, url string) (v clusterlive.View) {
	t.Helper()
	answer, err := http.Get(url + "events")
	if err != nil {
		t.Fatal("http.Get:", err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "event: view" {
	}
	lines.Scan()
	data, ok := strings.CutPrefix(lines.Text(), "data: ")
	if !ok || strings.Contains(data, `"error"`) {
		t.Fatalf("%q, %v", lines.Text(), lines.Err())
	}
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatal("json.Unmarshal:", err)
	}
	return v
}

// The page is served to this machine alone.
func TestClusterLiveIsForThisMachine(t *testing.T) {
	for _, address := range []string{":80", "0.0.0.0", "10.0.0.1:80", "example.com:80"} {
		status, out, errs := command("live", "--addr", address)
		if status != 2 || out != "" || !strings.HasPrefix(errs, "filch: --addr "+address+": must be a loopback address") {
			t.Errorf("%s: status %d, %s%s", address, status, out, errs)
		}
	}
}
