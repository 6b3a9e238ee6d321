package cluster

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
)

// tokenForm is what a token consists of.
var tokenForm = regexp.MustCompile(`^([a-zA-Z0-9_-]|=[0-9A-F]{2})+$`)

// Each text has a token, which is read as that text, and no other token is.
func FuzzToken(f *testing.F) {
	for _, text := range []string{"", "plain-1_", "ann@example.com", "a/b.c", "50 %=", "ü*>", "=", "=40", "=4", "a=2E", "=61", "=2e", "\x00", "\xff", "=FF", "=E2=80", "\u0378", "a\nb", strings.Repeat("*", maxName), strings.Repeat("x", maxName+1), strings.Repeat("=2A", maxName+1)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		allowed := text != "" && len(text) <= maxName && utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
		token, err := newToken("ID", text)
		if allowed != (err == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if allowed {
			if again, err := parseToken("ID", string(token)); err != nil || again != token || token.text() != text || !tokenForm.MatchString(string(token)) {
				t.Errorf("%q is written as %q, and read as %q: %v", text, token, token.text(), err)
			}
		}
		// The same bytes as a token.
		if stored, err := parseToken("ID", text); err == nil {
			if string(stored) != text || encode(stored.text()) != stored || !tokenForm.MatchString(text) || len(stored.text()) > maxName || !utf8.ValidString(stored.text()) || strings.ContainsFunc(stored.text(), unicode.IsControl) {
				t.Errorf("%q is taken for a token of %q", text, stored.text())
			}
		}
	})
}

func TestATextHasOneTokenAndNoOtherIsRead(t *testing.T) {
	for text, want := range map[string]token{
		"plain-1_": "plain-1_", "ann@example.com": "ann=40example=2Ecom", "50 %=": "50=20=25=3D", "ü*>": "=C3=BC=2A=3E", "=40": "=3D40",
	} {
		if got, err := newToken("ID", text); got != want || err != nil {
			t.Error(text, got, err)
		}
	}
	for _, stored := range []string{"", "=", "a=", "=4", "=4g", "=2e", "=61", "=2D", "=5F", "a.b", "a b", "*", "ü", "=0A", "=00", "=7F", "=FF", "=C3", "=E2=80=8B", strings.Repeat("x", maxName+1), strings.Repeat("=2A", maxName+1)} {
		if got, err := parseToken("key", stored); err == nil || got != "" || !strings.Contains(err.Error(), "the key ") {
			t.Errorf("%q is a token: %v", stored, err)
		}
	}
	if _, err := parseToken("ID", string(encode("\u0378"))); err != nil {
		t.Error("a character that a later version of Unicode may have is refused:", err)
	}
}

func TestTextsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "the ID is empty", strings.Repeat("x", maxName+1): "the ID has 129 bytes; 128 are allowed", strings.Repeat("ü", 65): "the ID has 130 bytes",
		"a\nb": `the ID "a\nb" contains '\n', which is not printable`, "a\x00": `contains '\x00'`, "\x7f": `contains '\x7f'`, "a\u00a0b": "which is not printable",
		"\u202e": `contains '\u202e'`, "\xff": `the ID "\xff" is not valid UTF-8`, "a\xc3": "is not valid UTF-8",
	} {
		if _, err := newToken("ID", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is logged of a token is its text, and what is made of one without a conversion is not.
func TestTokensAreLoggedAsTexts(t *testing.T) {
	var text, json bytes.Buffer
	id := encode("ann@example.com")
	slog.New(slog.NewTextHandler(&text, nil)).Info("", "task", id)
	slog.New(slog.NewJSONHandler(&json, nil)).Info("", "task", id)
	if !strings.Contains(text.String(), "task=ann@example.com") || !strings.Contains(json.String(), `"task":"ann@example.com"`) {
		t.Error(text.String(), json.String())
	}
	if got := fmt.Sprint(id); got != "ann=40example=2Ecom" {
		t.Error(got)
	}
}

// A message whose ID or keys no node has written is nobody's task.
func TestMessagesWithMalformedTokensAreRefused(t *testing.T) {
	whole := func() nats.Header { return (&task{id: "a", codec: "json", key: "k"}).message("s").Header }
	if _, err := parseTask("h", whole(), nil); err != nil {
		t.Fatal("parseTask:", err)
	}
	for _, key := range []string{headerID, headerKey, headerUnique, headerBatch} {
		for _, stored := range []string{"a b", "ann@example.com", "=0A", "=61", "a="} {
			h := whole()
			h[key] = []string{stored}
			if _, err := parseTask("h", h, nil); err == nil {
				t.Errorf("%s: %s is taken", key, stored)
			}
		}
	}
}

// A time of a cron job whose unique key cannot be read is no task: it would be tried again for ever.
func TestTimesOfCronJobsWithMalformedKeysAreRefused(t *testing.T) {
	n := &Node{names: names{"c"}}
	for _, c := range []struct {
		key, ns string
		taken   bool
	}{{"a", "5", true}, {"a=2Eb", "5", true}, {"", "", true}, {"a b", "5", false}, {"a=", "5", false}, {"a", "", false}, {"a", "0", false}} {
		_, id, err := n.workMessage(&nats.Msg{Subject: "c.due.h.p1", Header: nats.Header{
			headerCron: {"job"}, headerScheduleNext: {"2050-01-01T00:00:00Z"}, headerUnique: {c.key}, headerUniqueFor: {c.ns},
		}})
		if (err == nil) != c.taken || c.taken && id != "job-20500101T000000" {
			t.Errorf("%+v: %q, %v", c, id, err)
		}
	}
}

// Only token.go makes a token of a string without a check. So what comes from the servers is checked.
func TestTokensAreMadeInOnePlace(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	conversion := regexp.MustCompile(`\btoken\(`)
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal("os.ReadFile:", err)
		}
		if name != "token.go" && !strings.HasSuffix(name, "_test.go") && conversion.Match(source) {
			t.Error("a conversion in", name)
		}
	}
}
