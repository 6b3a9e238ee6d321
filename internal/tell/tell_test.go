package tell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

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
		all := ReadPools("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1\n\ngoroutine 7 " + head + "\n" + body + worker)
		if len(all) != 1 {
			t.Fatalf("ReadPools(…): %s: %v", head, all)
		}
		g := &all[0]
		if got := g.Where(); got != want || len(g.workers) != 2 || g.workers[0] != "0xc01" || g.workers[1] != "0xc02?" {
			t.Errorf("%s: %q of %v, not %q", head, got, g.workers, want)
		}
		if got := g.Named(WithoutName + ", for 5s"); got != "task main.main.func1, for 5s" {
			t.Errorf(`g.Named(WithoutName + ", for 5s"): %s: %q`, head, got)
		}
	}
	if all := Goroutines(nil); all.Of("0x1") != nil || all.Of("0x1").Where() != "" || all.Of("0x1").Named("x") != "x" {
		t.Error("nothing is somewhere")
	}
}

// A wait inside of a pool has the name of the call that the user's code makes.
func TestWaitsHaveTheNamesOfCalls(t *testing.T) {
	const latch = "goroutine 7 [select, 2 minutes]:\n" +
		"github.com/filch-go/filch/internal/task.(*Latch).Wait(0xc01)\n\t/src/filch/internal/task/latch.go:80 +0x1\n" +
		"github.com/filch-go/filch/internal/task.blocked({0x1, 0x2, 0x3})\n\t/src/filch/internal/task/waits.go:67 +0x1\n"
	const rest = "main.eat(0x1)\n\t/src/main.go:12 +0x1\n" +
		"github.com/filch-go/filch.(*Memo[...]).Get(0xc01)\n\t/src/filch/memo.go:8 +0x1\n" +
		"github.com/filch-go/filch/internal/task.(*Worker).serve(0xc01)\n\t/src/filch/internal/task/serve.go:21 +0x1\n"
	for call, want := range map[string]string{
		"github.com/filch-go/filch.(*Future[...]).Wait(0xc01, {0x1, 0x2})": "Future.Wait for 2 minutes at main.eat main.go:12",
		"github.com/filch-go/filch.(*Group).Go(...)":                       "Group.Go for 2 minutes at main.eat main.go:12",
		"github.com/filch-go/filch/flow.(*Graph).Run(0xc01)":               "flow.Graph.Run for 2 minutes at main.eat main.go:12",
	} {
		g := goroutineIn(latch + call + "\n\t/src/filch/some.go:99 +0x1\n" + rest)
		if got := g.Where(); got != want || g.blocks() {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if g := goroutineIn("goroutine 7 [running]:\n" + rest); g.Where() != "at main.eat main.go:12" {
		t.Errorf("%q of a goroutine that does not wait", g.Where())
	}
}

// What a traceback tells of tasks.
func TestTasksOfATraceback(t *testing.T) {
	const text = `goroutine 1 [running]:
runtime/pprof.writeGoroutineStacks({0x1, 0x2})
	/go/pprof.go:1 +0x1
PKGblocked({0xa, 0xb, 0xb}, {0x1, 0x2}, 0x3)
	/filch/internal/task/waits.go:1 +0x1
ROOT(*Future[...]).Wait(0x5)
	/filch/future.go:1 +0x1
main.one(0x1)
	/main.go:1 +0x1
main.(*T).two({0x1, 0x2})
	/main.go:2 +0x1
ROOT(*futureTask[...]).Call(0x9, 0x1)
	/filch/future.go:3 +0x1
PKGrunFuture({0xb, 0xb}, {0x9, 0x1})
	/filch/future.go:2 +0x1
main.three()
	/main.go:3 +0x1
PKGPlain.Start(0x1)
	/filch/task.go:2 +0x1
created by PKG(*groupTask).Start in goroutine 7
	/filch/task.go:3 +0x1

goroutine 2 [chan receive]:
PKGblocked({0xa?, 0xb, 0xb}, 0x3)
	/filch/internal/task/waits.go:1 +0x1
main.four(...)
	/main.go:4 +0x1
PKG(*groupTask).Start(0x1)
	/filch/group.go:1 +0x1
PKGblocked({0xa, 0xb, 0xc}, 0x3)
	/filch/internal/task/waits.go:1 +0x1
PKGrunFuture({0xb, ...}, {0x9, 0x1})
	/filch/future.go:2 +0x1

goroutine 3 [chan receive]:
PKGblocked({0x0, 0x0, 0xc}, 0x3)
	/filch/internal/task/waits.go:1 +0x1
`
	want := Stacks{
		{WaitsFor: "0xa", By: "0xb", Lasts: true, Tasks: []TaskCall{{"0xb", "main.(*T).two"}, {"", "main.three"}}},
		{Tasks: []TaskCall{{"", "main.four"}, {"", "main.four"}}},
		{WaitsFor: "0x0", By: "0xc"},
	}
	got := ReadTasks("no goroutine yet\n" + strings.NewReplacer("PKG", ofTasks, "ROOT", Filch).Replace(text))
	if !slices.EqualFunc(got, want, func(a, b TaskStack) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// Times have three or four digits, and one is not many.
func TestWordsOfNumbers(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 999: "999ns", 1234: "1.23µs", 9999: "10µs", 123456: "123µs", 1234567: "1.23ms", 999949999: "1s",
		12345678901: "12.3s", 59*time.Minute + 59*time.Second + 900*time.Millisecond: "1h0m0s",
	} {
		if got := Round(d).String(); got != want {
			t.Errorf("%d: %s, not %s", d, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 places", 1: "1 place", 2: "2 places"} {
		if got := Count(n, "place"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A line of a look has what is known of a worker, a task, a wait or a circle, and no more.
func TestLinesOfALook(t *testing.T) {
	for want, l := range map[string]event.Look{
		"":                           {},
		"worker 7\t\tidle\n":         {Workers: []event.WorkerLook{{Worker: 7}}},
		"worker 7\t1 queued\tidle\n": {Workers: []event.WorkerLook{{Worker: 7, Queued: 1}}},
		"worker 0\t\ttask upper; searches; at main.eat main.go:12\n": {Workers: []event.WorkerLook{{Task: "task upper", Doing: "searches", At: "at main.eat main.go:12"}}},
		"worker 0\t\ttask upper, for 1h0m0s or more\n":               {Workers: []event.WorkerLook{{Task: "task upper", For: time.Hour}}},
		"in place\t\ttask a\nlong running\t\ttask b; at x\n":         {InPlace: []event.TaskLook{{Task: "task a"}}, Long: []event.TaskLook{{Task: "task b", At: "at x"}}},
		"waiting\t\ttask a waits for a group\nwaiting\t\tand 2 more tasks\ncycle:\t\ttask a waits for task a\n": {
			Waits: []event.WaitLook{{By: "task a", On: "a group"}}, More: 2, Circles: []string{"task a waits for task a"}},
		"held\t\ttask a comes after task b\nheld\t\tand 3 more tasks\n": {Held: []event.HeldLook{{Task: "task a", Why: "comes after task b"}}, MoreHeld: 3},
	} {
		var b strings.Builder
		if Look(&b, &l); b.String() != want {
			t.Errorf("Look(%+v): %q, not %q", l, &b, want)
		}
	}
}

// What is written out is what the functions are called.
func TestNamesOfTheEngine(t *testing.T) {
	if name := engine.NameOf((*engine.Worker).Suspend); name != atSuspend {
		t.Errorf("%s, not %s", atSuspend, name)
	}
}
