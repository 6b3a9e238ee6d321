package live_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace/live"
)

// The page does in a browser what it should; browser/page.mjs has the steps. It needs Chromium, Node and npm, and
// without them it is skipped, unless FILCH_BROWSER=1. It leaves screenshots in browser/shots.
func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, and runs without -short")
	}
	chromium, node := needBrowser(t)
	folder := installed(t)
	few, many := filch.New(filch.WithWorkers(4), filch.WithName("few")), filch.New(filch.WithWorkers(64), filch.WithName("many"))
	defer few.Close()
	defer many.Close()
	ofFew, ofMany := load(few), load(many)
	quiet := sync.OnceFunc(func() { ofFew(); ofMany() })
	defer quiet()

	const token = "an example of a token"
	mux := http.NewServeMux()
	mux.Handle("/debug/filch/", live.Handler(few, many))
	mux.Handle("/guarded/", http.StripPrefix("/guarded", live.New(live.WithPools(few), live.WithToken(token))))
	page := live.Handler(few)
	mux.HandleFunc("/proxied/", func(w http.ResponseWriter, r *http.Request) {
		r.Host = "127.0.0.1:1" // as of a proxy, which asks the server by its own address
		page.ServeHTTP(w, r)
	})
	s := &restarting{handler: mux}
	s.start(t, "127.0.0.1:0")
	defer s.stop()

	shots, err := filepath.Abs("browser/shots")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + s.address
	cmd := exec.CommandContext(t.Context(), node, "page.mjs", base+"/debug/filch/", base+"/guarded/", token, shots, chromium, brokenPrograms(t), brokenSays(t))
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch what, text, _ := strings.Cut(lines.Text(), " "); what {
		case "ask":
			switch text {
			case "restart":
				s.stop()
				s.start(t, s.address)
			case "quiet":
				quiet()
			}
			fmt.Fprintln(in, "done", text)
		case "fail":
			t.Error(strings.ReplaceAll(text, " | ", "\n"))
		default:
			steps++
			t.Log(text)
		}
	}
	if err := cmd.Wait(); err != nil || steps < 10 {
		t.Errorf("after %d steps: %v", steps, err)
	}
}

// brokenPrograms compiles examples/broken, and returns where it is.
func brokenPrograms(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "broken")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", name, "../../examples/broken").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return name
}

// brokenSays returns, as JSON, what docs/debugging.md says that the pages of these programs say: what is code in the paragraphs
// that begin with "On the page".
func brokenSays(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/debugging.md")
	if err != nil {
		t.Fatal(err)
	}
	named, quoted := regexp.MustCompile("`go run ./examples/broken (\\w+)`"), regexp.MustCompile("`([^`]+)`")
	says := map[string][]string{}
	for part := range strings.SplitSeq(string(doc), "\n## ") {
		if m := named.FindStringSubmatch(part); m != nil {
			_, text, _ := strings.Cut(part, "\nOn the page, ")
			text, _, _ = strings.Cut(text, "\n\n")
			for _, q := range quoted.FindAllStringSubmatch(text, -1) {
				says[m[1]] = append(says[m[1]], q[1])
			}
		}
	}
	for _, name := range []string{"channel", "circle", "mutex", "leaf", "limit"} {
		if len(says[name]) < 3 {
			t.Errorf("docs/debugging.md says of the page of %s only %q", name, says[name])
		}
	}
	b, err := json.Marshal(says)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// needBrowser returns the commands, or skips the test.
func needBrowser(t *testing.T) (chromium, node string) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	node, err := exec.LookPath("node")
	_, npm := exec.LookPath("npm")
	if chromium != "" && err == nil && npm == nil {
		return chromium, node
	}
	if os.Getenv("FILCH_BROWSER") == "1" {
		t.Fatal("FILCH_BROWSER=1, but Chromium, Node or npm is missing. In Debian: apt-get install chromium nodejs npm")
	}
	t.Skip("the page is not tested in a browser: Chromium, Node or npm is missing; FILCH_BROWSER=1 makes that an error")
	return "", ""
}

// installed returns a folder with the driver and what it requires, which stays in the cache of the user.
func installed(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("browser/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "filch-browser-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "page.mjs"} {
		b, err := os.ReadFile(filepath.Join("browser", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules/.package-lock.json")); errors.Is(err, fs.ErrNotExist) {
		cmd := exec.CommandContext(t.Context(), "npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
		cmd.Dir = dir
		if b, err := cmd.CombinedOutput(); err != nil {
			if os.Getenv("FILCH_BROWSER") == "1" {
				t.Fatalf("npm ci: %v\n%s", err, b)
			}
			t.Skipf("the page is not tested in a browser: npm ci: %v", err)
		}
	}
	return dir
}

// load keeps a pool busy until stop is called: tasks that fork, wait, and sleep now and then.
func load(p *filch.Pool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	fib := filch.NewFunc(fibonacci)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			g := p.Group(ctx)
			for k := range 2 * p.Stats().Workers {
				g.Go(func(ctx context.Context) error {
					if k%8 == 0 {
						filch.Blocking(ctx, func() { time.Sleep(time.Millisecond) })
					}
					return nil
				}, filch.Named("leaf"))
			}
			fib.Call(p, 22)
			g.Wait()
			time.Sleep(2 * time.Millisecond) // the browser needs a processor too
		}
	}()
	return func() { cancel(); <-done }
}

func fibonacci(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
}

// A restarting server can be stopped and started at the same address.
type restarting struct {
	handler http.Handler
	address string
	server  *http.Server
}

func (s *restarting) start(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.address, s.server = l.Addr().String(), &http.Server{Handler: s.handler}
	go s.server.Serve(l)
}

func (s *restarting) stop() { s.server.Close() }
