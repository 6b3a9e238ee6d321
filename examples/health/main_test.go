package main

import (
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 2, 5, 50); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "31 villages, 50 steps") {
		t.Error(out.String())
	}
}

// Nobody gets lost, and each village is as the serial program has it, on any number of workers.
func TestVillages(t *testing.T) {
	want := newCountry(2, 6)
	people := want.count().home
	for range 60 {
		serial(want)
	}
	c := want.count()
	if c.home+c.waiting+c.inside != people || c.treated == 0 {
		t.Errorf("%d people at first, then %+v", people, c)
	}
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		got := newCountry(2, 6)
		parallel(p, got, 60)
		p.Close()
		same(t, got, want)
	}
}

func same(t *testing.T, got, want *village) {
	t.Helper()
	if len(got.home) != len(want.home) || len(got.waiting) != len(want.waiting) || len(got.inside) != len(want.inside) || got.treated != want.treated {
		t.Errorf("%+v, want %+v", got.count(), want.count())
	}
	for i := range got.home {
		if got.home[i] != want.home[i] {
			t.Fatalf("%+v, want %+v", got.home[i], want.home[i])
		}
	}
	for i := range got.below {
		same(t, got.below[i], want.below[i])
	}
}
