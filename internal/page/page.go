// Package page serves a page that shows how something changes: its files, of which those in the folder files are for all
// such pages, and messages as server-sent events.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/filch-go/filch/internal/guard"
)

//go:embed files
var embedded embed.FS

// A Page is the handler of a page. It can be mounted under any prefix that ends in a slash.
type Page struct {
	guard  guard.Guard
	files  map[string]file
	choose func(r *http.Request) *Feed

	mu      sync.Mutex
	servers map[weak.Pointer[http.Server]]chan struct{} // closed when they shut down; under mu
}

// A file is part of the page.
type file struct {
	kind string // its Content-Type
	text []byte
	tag  string
}

// New returns a Page of the files in the folder page of own, beside those of all pages. Of main.html and frame.html it makes the page
// itself. choose returns the Feed that a request for events means, or nil if there is no such.
func New(g guard.Guard, own fs.FS, choose func(r *http.Request) *Feed) *Page {
	p := &Page{guard: g, files: map[string]file{}, choose: choose, servers: map[weak.Pointer[http.Server]]chan struct{}{}}
	p.read(embedded, "files")
	p.read(own, "page")
	main, frame := p.files["main.html"], p.files["frame.html"]
	p.files[""] = newFile(frame.kind, bytes.Replace(frame.text, []byte("<!-- main -->\n"), main.text, 1))
	return p
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// read reads the files of a folder. It panics if it cannot: they are embedded.
func (p *Page) read(all fs.FS, dir string) {
	entries, err := fs.ReadDir(all, dir)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(all, path.Join(dir, e.Name()))
		if err != nil {
			panic(err)
		}
		kind := kinds[path.Ext(e.Name())]
		if _, twice := p.files[e.Name()]; twice || kind == "" {
			panic(fmt.Sprintf("live: the file %s is there twice, or has no kind", e.Name()))
		}
		p.files[e.Name()] = newFile(kind, text)
	}
}

func newFile(kind string, text []byte) file {
	sum := sha256.Sum256(text)
	return file{kind: kind, text: text, tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// ServeHTTP implements [http.Handler]. The last part of the path is what is asked for, whatever the prefix is.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard.Secure(w.Header())
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if err := p.guard.Refuses(r, name == ""); err != nil {
		http.Error(w, "live: "+err.Error(), http.StatusForbidden)
		return
	}
	switch {
	case name == "token":
		p.guard.ServeToken(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "live: this is read only", http.StatusMethodNotAllowed)
	case name == "events":
		p.serveEvents(w, r)
	default:
		f, ok := p.files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("ETag", f.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
	}
}

// serveEvents answers with server-sent events until the page goes.
func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !p.guard.Token.Allows(r) {
		http.Error(w, "live: there is no token", http.StatusUnauthorized)
		return
	}
	feed := p.choose(r)
	if feed == nil {
		http.Error(w, "live: there is no such pool", http.StatusNotFound)
		return
	}
	if !flushes(w) {
		http.Error(w, "live: the ResponseWriter cannot flush: what wraps it needs an Unwrap method, see http.ResponseController", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	reader := feed.join()
	if reader == nil {
		w.Header().Set("Retry-After", "5")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		http.Error(w, fmt.Sprintf("live: %d pages are open", mostPages), http.StatusServiceUnavailable)
		return
	}
	defer feed.leave(reader)
	feed.stream(w, r, reader, p.shutdown(r))
}

// flushes reports whether http.ResponseController can flush w.
func flushes(w http.ResponseWriter) bool {
	for {
		switch x := w.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = x.Unwrap()
		default:
			return false
		}
	}
}

// shutdown returns what is closed when the server of r shuts down, or nil if it is not known. A server waits for what it
// serves, and a page would not end.
func (p *Page) shutdown(r *http.Request) <-chan struct{} {
	s, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := weak.Make(s)
	done := p.servers[key]
	if done == nil {
		done = make(chan struct{})
		p.servers[key] = done
		s.RegisterOnShutdown(sync.OnceFunc(func() { close(done) })) // for each call of Shutdown
	}
	return done
}
