package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
)

// A Token is what a page must have before it is shown anything.
type Token struct {
	sum    [sha256.Size]byte // so that a comparison takes as long for each length
	name   string            // of the cookie; cookies are those of a host, and not of a port
	cookie string
}

// NewToken returns the Token of a text.
func NewToken(t string) *Token {
	about := func(what string) string {
		m := hmac.New(sha256.New, []byte(t))
		m.Write([]byte("filch live " + what))
		return hex.EncodeToString(m.Sum(nil))
	}
	return &Token{sum: sha256.Sum256([]byte(t)), name: "filch-live-" + about("name")[:8], cookie: about("cookie")}
}

// Allows reports whether r has the token's cookie, or needs none since t is nil.
func (t *Token) Allows(r *http.Request) bool {
	if t == nil {
		return true
	}
	for _, c := range r.CookiesNamed(t.name) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(t.cookie)) == 1 {
			return true
		}
	}
	return false
}

// ServeToken answers a form with the token by the cookie.
func (g *Guard) ServeToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "live: the token comes by POST", http.StatusMethodNotAllowed)
		return
	}
	if g.Token == nil {
		http.NotFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	sum := sha256.Sum256([]byte(r.PostFormValue("token")))
	if subtle.ConstantTimeCompare(sum[:], g.Token.sum[:]) != 1 {
		http.Error(w, "live: this is not the token", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{ // without a path: it is that of the page
		Name: g.Token.name, Value: g.Token.cookie, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	w.WriteHeader(http.StatusNoContent)
}
