package live_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace/live"
)

// The page does in a browser what it should; browser/page.mjs has the steps. It needs Chromium, Node and npm. It leaves screenshots in browser/shots.
func TestPageInABrowser(t *testing.T) {
	thorough.Only(t, "drives a page in Chromium")
	browser.Need(t)
	few, many := filch.New(filch.WithWorkers(2), filch.WithName("few")), filch.New(filch.WithWorkers(64), filch.WithName("many"))
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
	s := &browser.Server{Handler: mux}
	s.Start(t, "127.0.0.1:0")
	defer s.Stop()

	base := "http://" + s.Address
	steps := browser.Drive(t, "browser", func(what string) {
		switch what {
		case "restart":
			s.Stop()
			s.Start(t, s.Address)
		case "quiet":
			quiet()
		}
	}, base+"/debug/filch/", base+"/guarded/", token, brokenPrograms(t), brokenSays(t), strconv.FormatBool(browser.Whole()))
	if steps < 10 {
		t.Errorf("there were %d steps", steps)
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
		t.Fatal(`os.ReadFile("../../docs/debugging.md"):`, err)
	}
	named, quoted := regexp.MustCompile("`go run ./examples/broken (\\w+)`"), regexp.MustCompile("`([^`]+)`")
	says := map[string][]string{}
	for part := range strings.SplitSeq(string(doc), "\n## ") {
		if m := named.FindStringSubmatch(part); m != nil {
			_, text, _ := strings.Cut(part, "\nOn the page, ")
			text, _, _ = strings.Cut(text, "\n\n")
			for _, q := range quoted.FindAllStringSubmatch(text, -1) {
				says[m[1]] = append(says[m[1]], strings.Join(strings.Fields(q[1]), " "))
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
		t.Fatal("json.Marshal(says):", err)
	}
	return string(b)
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
