package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// withPage runs what prints the address of its page, calls f with that line, and interrupts it. It must end then without an
// error, and the page with it.
func withPage(t *testing.T, serve func(ctx context.Context, out io.Writer) error, f func(line string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, out); out.Close() }()
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		t.Fatal("no address: ", <-ended)
	}
	f(lines.Text())
	cancel()
	if err := <-ended; err != nil {
		t.Error("<-ended:", err)
	}
	url, _, _ := strings.Cut(lines.Text(), "#")
	if _, err := http.Get(url); err == nil {
		t.Errorf("%s is there for good", url)
	}
}

// fetch returns what is at an address.
func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(`http.NewRequestWithContext(t.Context(), "GET", url, nil):`, err)
	}
	return answerTo(t, r)
}

func answerTo(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal("http.DefaultClient.Do(r):", err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal("io.ReadAll(answer.Body):", err)
	}
	return answer.StatusCode, string(b)
}
