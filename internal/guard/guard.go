// Package guard keeps others out of a page. A page of another site can make a browser on this machine ask for anything
// here, and can make its own name lead here. It cannot choose what the browser sends as Host, Origin and Sec-Fetch-Site.
package guard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A Guard says which requests are answered. The zero value answers those for this machine.
type Guard struct {
	Hosts []string // names by which others than this machine may ask, as Host returns them
	Token *Token   // what a page must have; nil for nothing
	Hint  string   // what an error says of a host that is not allowed
}

// Secure sets the headers of all answers: browsers run no script and no style but the page's own, and nobody frames it.
func Secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

// Host returns the host of a Host header, without the port, in lower case.
func Host(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
}

// IsLoopback reports whether a host is this machine, whatever a name server says: an address of the loopback interface,
// localhost, or a name below it.
func IsLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Refuses returns why r is refused, or nil. front says that it asks for the page itself, to which others may link.
func (g *Guard) Refuses(r *http.Request, front bool) error {
	if host := Host(r.Host); !IsLoopback(host) && !slices.Contains(g.Hosts, host) {
		return fmt.Errorf("the host %q is not allowed; %s", host, g.Hint)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	// A proxy may have sent another Host than the browser, which tells by Sec-Fetch-Site that the origin is the same.
	if origin, ok := r.Header["Origin"]; ok && site != "same-origin" && !g.isOrigin(origin, r.Host) {
		return fmt.Errorf("a page of origin %q may not ask %q for anything; %s", origin, r.Host, g.Hint)
	}
	switch {
	case site == "" || site == "same-origin" || site == "none":
	case front && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
	default:
		return errors.New("this is not for pages of other sites")
	}
	return nil
}

// isOrigin reports whether an Origin header is that of a page from host, or from one of Hosts.
func (g *Guard) isOrigin(origin []string, host string) bool {
	if len(origin) != 1 {
		return false
	}
	u, err := url.Parse(origin[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		(strings.EqualFold(u.Host, host) || slices.Contains(g.Hosts, Host(u.Host)))
}
