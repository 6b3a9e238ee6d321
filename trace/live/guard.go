package live

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// What keeps others out. A page of another site can make a browser on this machine ask for anything here, and can
// make its own name lead here. It cannot choose what the browser sends as Host, Origin and Sec-Fetch-Site.

// secure sets the headers of all answers.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

// hostOf returns the host of a Host header, without the port, in lower case.
func hostOf(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// refuses returns why r is refused, or nil. front says that it asks for the page itself, to which others may link.
func (h *handler) refuses(r *http.Request, front bool) error {
	if host := hostOf(r.Host); !isLoopback(host) && !slices.Contains(h.hosts, host) {
		return fmt.Errorf("live: the host %q is not allowed; see WithHosts", host)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	// A proxy may have sent another Host than the browser, which tells by Sec-Fetch-Site that the origin is the same.
	if origin, ok := r.Header["Origin"]; ok && site != "same-origin" && !h.isOrigin(origin, r.Host) {
		return fmt.Errorf("live: a page of origin %q may not ask %q for anything; see WithHosts", origin, r.Host)
	}
	switch {
	case site == "" || site == "same-origin" || site == "none":
	case front && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
	default:
		return errors.New("live: this is not for pages of other sites")
	}
	return nil
}

// isOrigin reports whether an Origin header is that of a page from host, or from one of WithHosts.
func (h *handler) isOrigin(origin []string, host string) bool {
	if len(origin) != 1 {
		return false
	}
	u, err := url.Parse(origin[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		(strings.EqualFold(u.Host, host) || slices.Contains(h.hosts, hostOf(u.Host)))
}

// A token is what a page must have.
type token struct {
	sum    [sha256.Size]byte // so that a comparison takes as long for each length
	name   string            // of the cookie; cookies are those of a host, and not of a port
	cookie string
}

func newToken(t string) *token {
	about := func(what string) string {
		m := hmac.New(sha256.New, []byte(t))
		m.Write([]byte("filch live " + what))
		return hex.EncodeToString(m.Sum(nil))
	}
	return &token{sum: sha256.Sum256([]byte(t)), name: "filch-live-" + about("name")[:8], cookie: about("cookie")}
}

// isFrom reports whether r has the cookie.
func (t *token) isFrom(r *http.Request) bool {
	for _, c := range r.CookiesNamed(t.name) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(t.cookie)) == 1 {
			return true
		}
	}
	return false
}

// serveToken answers a form with a token by the cookie.
func (h *handler) serveToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "live: the token comes by POST", http.StatusMethodNotAllowed)
		return
	}
	if h.token == nil {
		http.NotFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	sum := sha256.Sum256([]byte(r.PostFormValue("token")))
	if subtle.ConstantTimeCompare(sum[:], h.token.sum[:]) != 1 {
		http.Error(w, "live: this is not the token", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{ // without a path: it is that of the page
		Name: h.token.name, Value: h.token.cookie, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	w.WriteHeader(http.StatusNoContent)
}
