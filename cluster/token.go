package cluster

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how long names of clusters, handlers and versions, and the texts of keys and IDs may be, in bytes.
const maxName = 128

// token is an ID, an order key or a unique key as it stands on the servers: a token of a subject, a part of a key, a header. Its text is
// what callers give and get. Letters, digits, - and _ of the text stand for themselves, and each other byte is = and two
// hexadecimal digits, as in "ann=40example=2Ecom". So a text has one token, and a token is three times as long as its text at most.
//
// A token comes from newToken, encode or parseToken, and becomes a text by text. It has no method String: where one
// is forgotten, people read a token; with one, where a conversion is forgotten, a subject would be made of any text.
type token string

// anyToken stands for each token, in a subject that is asked for or permitted.
const anyToken token = "*"

// newToken returns the token of a text that a caller has given. what says what it is.
func newToken(what, text string) (token, error) {
	if err := checkText(what, text); err != nil {
		return "", err
	}
	return encode(text), nil
}

// checkText returns an error if a text is none of an ID or a key.
func checkText(what, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("cluster: the %s is empty", what)
	case len(text) > maxName:
		return fmt.Errorf("cluster: the %s has %d bytes; %d are allowed", what, len(text), maxName)
	case !utf8.ValidString(text):
		return fmt.Errorf("cluster: the %s %q is not valid UTF-8", what, text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("cluster: the %s %q contains %q, which is not printable", what, text, r)
		}
	}
	return nil
}

// parseToken returns what the servers have as a token, if a node can have written it.
func parseToken(what, stored string) (token, error) {
	if t := token(stored); t.isOne() {
		return t, nil
	}
	return "", fmt.Errorf("cluster: the %s %.*q on the servers was written by no node", what, maxName, stored)
}

// isOne reports whether a text that may have been given has t as its token. A node of a later version of Unicode knows more
// characters to be printable, so those are taken of which this one knows nothing.
func (t token) isOne() bool {
	if t == "" || len(t) > 3*maxName {
		return false
	}
	text, ok := t.decode()
	if !ok || len(text) > maxName || encode(text) != t || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && !unicode.Is(unicode.Cn, r) {
			return false
		}
	}
	return true
}

// text returns the text of a token.
func (t token) text() string {
	if text, ok := t.decode(); ok {
		return text
	}
	return string(t)
}

// LogValue is the text of the token.
func (t token) LogValue() slog.Value { return slog.StringValue(t.text()) }

// hexDigits are those of tokens.
const hexDigits = "0123456789ABCDEF"

// encode returns the token of a text.
func encode(text string) token {
	escaped := 0
	for i := range len(text) {
		if !isNameRune(rune(text[i])) {
			escaped++
		}
	}
	if escaped == 0 {
		return token(text)
	}
	b := make([]byte, 0, len(text)+2*escaped)
	for i := range len(text) {
		if c := text[i]; isNameRune(rune(c)) {
			b = append(b, c)
		} else {
			b = append(b, '=', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return token(b)
}

// decode is the inverse of encode. It returns false for what has a = without two hexadecimal digits behind it.
func (t token) decode() (string, bool) {
	first := strings.IndexByte(string(t), '=')
	if first < 0 {
		return string(t), true
	}
	b := append(make([]byte, 0, len(t)), t[:first]...)
	for i := first; i < len(t); i++ {
		if t[i] != '=' {
			b = append(b, t[i])
			continue
		}
		if len(t)-i < 3 {
			return "", false
		}
		high, low := strings.IndexByte(hexDigits, t[i+1]), strings.IndexByte(hexDigits, t[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b = append(b, byte(high<<4|low))
		i += 2
	}
	return string(b), true
}
