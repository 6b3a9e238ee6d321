package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/filch-go/filch/cluster"
)

// The page and what it shows are there until the command is interrupted.
func TestClusterLive(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, out := io.Pipe()
	ended := make(chan error)
	view := func(context.Context) (clusterView, error) {
		return clusterView{Nodes: []cluster.NodeInfo{{Name: "a", From: map[string]int64{"b": 3}}}}, nil
	}
	go func() { ended <- serveCluster(ctx, out, "127.0.0.1:0", view) }()
	lines := bufio.NewScanner(in)
	lines.Scan()
	url := lines.Text()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.HasPrefix(string(page), "<!doctype html>") || answer.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("the page is %.50q, %v", page, answer.Header)
	}
	if answer, err = http.Get(url + "view"); err != nil {
		t.Fatal(err)
	}
	var v clusterView
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil || len(v.Nodes) != 1 || v.Nodes[0].From["b"] != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	answer.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the page is there for good")
	}
}

// Names that lead here by a name server are refused, and errors of the servers are told.
func TestClusterLiveRefuses(t *testing.T) {
	h := clusterHandler(func(context.Context) (clusterView, error) { return clusterView{}, errors.New("no servers") })
	for _, c := range []struct {
		method, host, path string
		status             int
	}{
		{"GET", "localhost:80", "/", 200}, {"GET", "127.0.0.1", "/", 200}, {"GET", "[::1]:80", "/", 200},
		{"GET", "evil.example", "/view", 403}, {"GET", "127.0.0.1.evil.example:80", "/", 403}, {"GET", "10.0.0.1", "/", 403},
		{"GET", "localhost", "/view", 502}, {"POST", "localhost", "/view", 405}, {"GET", "localhost", "/other", 404},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%v: %d, %s", c, w.Code, w.Body)
		}
	}
	for _, address := range []string{":80", "0.0.0.0", "10.0.0.1:80", "example.com:80"} {
		status, out, errs := command("live", "--addr", address)
		if status != 2 || out != "" || !strings.HasPrefix(errs, "filch: --addr "+address+": must be a loopback address") {
			t.Errorf("%s: status %d, %s%s", address, status, out, errs)
		}
	}
}
