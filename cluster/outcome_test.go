package cluster

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOutcomesAreReadAsTheyWereWritten(t *testing.T) {
	want := outcome{Status: statusDone, Attempts: 3, Node: "a", Handler: "h@2", Codec: "json", data: []byte("a\nb\x00")}
	got, err := parseOutcome(want.bytes())
	if err != nil || got.Status != want.Status || got.Handler != want.Handler || string(got.data) != string(want.data) {
		t.Errorf("%+v, %v", got, err)
	}
	for status, is := range map[string]error{statusDone: nil, statusCanceled: ErrCanceled, statusDeadline: ErrDeadline} {
		if err := (outcome{Status: status}).err("a"); !errors.Is(err, is) {
			t.Error(status, err)
		}
	}
	var e *TaskError
	if err := (outcome{Status: statusFailed, Handler: "h@2", Error: "why", Attempts: 2}).err("id"); !errors.As(err, &e) || *e != (TaskError{"id", "h", 2, "why"}) {
		t.Error("parseOutcome:", err)
	}
}

func TestShortKeepsRunesWhole(t *testing.T) {
	for i := range 5 {
		text := short(strings.Repeat("x", i) + strings.Repeat("\u20ac", shortError))
		if !utf8.ValidString(text) || len(text) > shortError+3 {
			t.Errorf("%d bytes: valid %v", len(text), utf8.ValidString(text))
		}
	}
	if text := short(strings.Repeat("\xff", 2*shortError)); len(text) > shortError+3 {
		t.Error(len(text))
	}
}

func TestOnlyAPlainConfirmationIsStored(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"stream":"KV_filch_results","seq":7}`: true,
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"x","seq":0}`: false,
		`{"error":{"code":503,"err_code":10077}}`:                                                             false,
		``:     false,
		`-ERR`: false,
	} {
		if got := isStored([]byte(answer)); got != want {
			t.Errorf("%q: %v", answer, got)
		}
	}
}
