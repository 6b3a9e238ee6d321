package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// The programs that a system needs may be missing, and SQLite needs none.
func TestEachSystemThatStartsHereRunsItsTasks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, s := range systems {
		t.Run(s.name+" "+s.durable, func(t *testing.T) {
			f := s.measure(ctx, 4, 70, 1)
			switch {
			case strings.Contains(f.Note, "is not installed"):
				t.Skip(f.Note)
			case f.Note != "" || len(f.Times) != 1 || f.Times[0] <= 0:
				t.Errorf("s.measure(ctx, 4, 70, 1): %+v", f)
			}
		})
	}
}

func TestItWritesALineForEachNumberOfPlaces(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), strings.Fields("-tasks 10 -runs 2 -places 1,2 -systems asynq,nothing"), &out); err != nil {
		t.Fatal("run(t.Context(), …, &out):", err)
	}
	d := json.NewDecoder(&out)
	for d.More() {
		var f figure
		if err := d.Decode(&f); err != nil {
			t.Fatal("d.Decode(&f):", err)
		}
		if f.System != "asynq, Redis" || f.Tasks != 10 || f.Note == "" && len(f.Times) != 2 {
			t.Errorf("%+v", f)
		}
	}
}

func TestItRefusesWrongArguments(t *testing.T) {
	for _, args := range []string{"-tasks 0", "-runs 0", "-places 0", "-places x", "more", "-unknown"} {
		if err := run(t.Context(), strings.Fields(args), nil); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

func TestASystemThatDoesNotStartSaysWhy(t *testing.T) {
	s := system{name: "none", start: func(context.Context, string) (queue, error) { return nil, errors.New("no such thing") }}
	if f := s.measure(t.Context(), 1, 1, 1); f.Note != "no such thing" || f.Times != nil {
		t.Errorf("s.measure(t.Context(), 1, 1, 1): %+v", f)
	}
}
