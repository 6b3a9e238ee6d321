package par

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// Dump tells of a loop how many of its elements are done, of all, and by whose function; and of one
// that has ended nothing. Elements in blocks count as such.
func TestDumpTellsHowFarALoopIs(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	nap := func() { time.Sleep(time.Millisecond) }
	one := func(int) { nap() }
	known := func(int) { nap() }
	counted := func(int) bool { nap(); return true }
	mapped := func(int) int { nap(); return 1 }
	cheap := func(int) bool { nap(); return true }
	x := make([]int, 6400)
	for name, c := range map[string]struct {
		run  func(s filch.Scope)
		want string
	}{
		"For":           {func(s filch.Scope) { For(s, 1000, one) }, "150 of 1000 done"},
		"For of chunks": {func(s filch.Scope) { For(s, 1000, one, WithGrain(40)) }, "120 of 1000 done"},
		"For, known": {func(s filch.Scope) { // to take nothing, so one is done before it is divided
			costOf(known, asIs).learn(ns, 1)
			For(s, 1000, known)
		}, "150 of 1000 done"},
		"ForScope":  {func(s filch.Scope) { ForScope(s, 1000, func(filch.Scope, int) { nap() }) }, "150 of 1000 done"},
		"ForErr":    {func(s filch.Scope) { ForErr(s, 1000, func(int) error { nap(); return nil }) }, "150 of 1000 done"},
		"Count":     {func(s filch.Scope) { Count(s, x, counted) }, "150 of 6400 done"},
		"MapReduce": {func(s filch.Scope) { MapReduce(s, x, 0, mapped, add) }, "100 of 6400 done"},
		"Count, known": {func(s filch.Scope) {
			costOf(cheap, asIs).learn(fastest, 1)
			Count(s, x, cheap)
		}, "150 of 6400 done"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
			defer p.Close()
			dump := func() string {
				var b strings.Builder
				p.Dump(&b)
				return b.String()
			}
			ended := make(chan bool)
			p.Go(context.Background(), func(ctx context.Context) {
				c.run(filch.ScopeOf(ctx))
				ended <- true
				nap()
			})
			time.Sleep(150*time.Millisecond + time.Microsecond)
			dump() // one that is asked for the first time
			if got := dump(); !regexp.MustCompile(`par loop of \S+TestDumpTellsHowFar\S+, ` + c.want).MatchString(got) {
				t.Errorf("%s: there is no %s:\n%s", name, c.want, got)
			}
			<-ended
			if got := dump(); strings.Contains(got, "par loop") {
				t.Errorf("%s: after it:\n%s", name, got)
			}
		})
	}
}
