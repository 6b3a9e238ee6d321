package filch

import "testing"

// A traceback tells for how many minutes a goroutine has waited, and whose it is.
func TestWhereaboutsAreReadFromATraceback(t *testing.T) {
	const body = `main.eat(...)
	/src/main.go:12
main.main.func1({0x5?, 0x6?})
	/src/main.go:17 +0x19
`
	const worker = `github.com/filch-go/filch/internal/task.(*Worker).serve(0xc01, {{0x0?, 0x0?}, {0xb2?, 0xc3?}}, 0xc9)
	/src/filch/internal/task/serve.go:21 +0x22b
github.com/filch-go/filch/internal/engine.(*Worker).other(0xc02?)
	/src/filch/internal/engine/x.go:21 +0x22b
created by main.main in goroutine 1
	/src/main.go:17 +0x19
`
	for head, want := range map[string]string{
		"[chan receive]:":                                  "chan receive at main.eat main.go:12",
		"[chan receive, 5 minutes]:":                       "chan receive for 5 minutes at main.eat main.go:12",
		"[chan receive (durable), synctest bubble 7]:":     "chan receive at main.eat main.go:12",
		"[select, 1 minutes, locked to thread]:":           "select for 1 minute at main.eat main.go:12",
		"[sync.Mutex.Lock, 12 minutes, synctest bubble 7]": "sync.Mutex.Lock for 12 minutes at main.eat main.go:12",
		"[running]:":                    "at main.eat main.go:12",
		"[runnable, locked to thread]:": "at main.eat main.go:12",
	} {
		all := whereaboutsIn("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1\n\ngoroutine 7 " + head + "\n" + body + worker)
		if len(all) != 1 {
			t.Fatalf("whereaboutsIn(…): %s: %v", head, all)
		}
		g := &all[0]
		if got := g.where(); got != want || len(g.workers) != 2 || g.workers[0] != "0xc01" || g.workers[1] != "0xc02?" {
			t.Errorf("%s: %q of %v, not %q", head, got, g.workers, want)
		}
		if got := g.named(withoutName + ", for 5s"); got != "task main.main.func1, for 5s" {
			t.Errorf(`g.named(withoutName + ", for 5s"): %s: %q`, head, got)
		}
	}
	if all := whereabouts(nil); all.of(&Worker{}) != nil || all.of(&Worker{}).where() != "" || all.of(&Worker{}).told("x") != "x" {
		t.Error("nothing is somewhere")
	}
}

// A wait inside of a pool has the name of the call that the user's code makes.
func TestWaitsHaveTheNamesOfCalls(t *testing.T) {
	const latch = "goroutine 7 [select, 2 minutes]:\n" +
		"github.com/filch-go/filch/internal/task.(*Latch).Wait(0xc01)\n\t/src/filch/internal/task/latch.go:80 +0x1\n" +
		"github.com/filch-go/filch.blocked({0x1, 0x2, 0x3})\n\t/src/filch/cycle.go:67 +0x1\n"
	const rest = "main.eat(0x1)\n\t/src/main.go:12 +0x1\n" +
		"github.com/filch-go/filch.(*Memo[...]).Get(0xc01)\n\t/src/filch/memo.go:8 +0x1\n" +
		"github.com/filch-go/filch/internal/task.(*Worker).serve(0xc01)\n\t/src/filch/internal/task/serve.go:21 +0x1\n"
	for call, want := range map[string]string{
		"github.com/filch-go/filch.(*Future[...]).Wait(0xc01, {0x1, 0x2})": "Future.Wait for 2 minutes at main.eat main.go:12",
		"github.com/filch-go/filch.(*Group).Go(...)":                       "Group.Go for 2 minutes at main.eat main.go:12",
		"github.com/filch-go/filch/flow.(*Graph).Run(0xc01)":               "flow.Graph.Run for 2 minutes at main.eat main.go:12",
	} {
		g := goroutineIn(latch + call + "\n\t/src/filch/some.go:99 +0x1\n" + rest)
		if got := g.where(); got != want || g.blocks() {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if g := goroutineIn("goroutine 7 [running]:\n" + rest); g.where() != "at main.eat main.go:12" {
		t.Errorf("%q of a goroutine that does not wait", g.where())
	}
}
