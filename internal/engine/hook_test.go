package engine

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/event"
)

// script is a hook that keeps what it is told.
type script struct {
	t  *testing.T
	on func(e event.Event) // is called first, if it is not nil

	mu    sync.Mutex
	lines []string // without the time
}

func (s *script) Event(e event.Event) {
	if s.on != nil {
		s.on(e)
	}
	if e.At == 0 {
		s.t.Errorf("%v has no time", e)
	}
	e.At = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, e.String())
}

// of returns the lines that begin with who, and forgets all.
func (s *script) of(who string) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.HasPrefix(line, who) {
			lines = append(lines, line)
		}
	}
	s.lines = nil
	return lines
}

// expect compares the lines that begin with who, and forgets all.
func (s *script) expect(who string, want ...string) {
	s.t.Helper()
	if got := s.of(who); !slices.Equal(got, want) {
		s.t.Errorf("told:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hookedPool is newPool with a script.
func hookedPool(t *testing.T, limit int) (*Pool, *script) {
	p, s := newPool(limit), &script{t: t}
	p.AddHook(s)
	return p, s
}

// publishOne forks a call with arg and publishes it.
func publishOne(f *forks, arg int) {
	f.args = append(f.args, arg)
	f.w.publish(1)
}

// identity returns its argument.
func identity(_ *forks, arg int) int { return arg }

// A fork is told of when it is published, and by the one that takes it. Its ID has the number of
// its owner, which it keeps wherever it goes.
func TestHookOfForks(t *testing.T) {
	p, s := hookedPool(t, 4)
	owner, thief, third := testWorker(p, 0), testWorker(p, 1), testWorker(p, 2)
	f := body(identity).enter(owner)
	for i := range 3 {
		publishOne(f, i)
	}
	if r := f.join(); r != 2 {
		t.Fatal("f.join():", r)
	}
	s.expect("", "worker 0   publishes fork 0.1", "worker 0   publishes fork 0.2", "worker 0   publishes fork 0.3",
		"worker 0   takes back fork 0.3")
	j := thief.steal(owner)
	s.expect("", "worker 1   steals fork 0.1 from worker 0")
	thief.execute(j)
	s.expect("", "worker 1   finishes fork 0.1 of worker 0")
	setPlaces(p, counted{4, 1, 0}) // so that nobody is woken
	thief.handOn(thief.steal(owner))
	s.expect("", "worker 1   steals fork 0.2 from worker 0", "worker 1   hands on fork 0.2 of worker 0")
	if j, _ = third.look(false); j == nil {
		t.Fatal("nobody finds what was handed on")
	}
	third.execute(j)
	s.expect("", "worker 2   takes up fork 0.2 of worker 0", "worker 2   finishes fork 0.2 of worker 0")
	f.join()
	f.join()
	publishOne(f, 4) // in a job that was used before
	f.Drop(0)
	s.expect("", "worker 0   publishes fork 0.4", "worker 0   takes back fork 0.4")
	owner.Pop()
	g := body(identity).enter(thief)
	publishOne(g, 5)
	g.join()
	s.expect("", "worker 1   publishes fork 1.1", "worker 1   takes back fork 1.1")
}

// One that waits for a fork tells so, and whose place it gets.
func TestHookOfWaits(t *testing.T) {
	p, s := hookedPool(t, 2)
	setPlaces(p, counted{2, 1, 0}) // so that nobody is woken
	owner, thief := testWorker(p, 0), testWorker(p, 1)
	waits, over := make(chan bool), make(chan bool)
	s.on = func(e event.Event) {
		if e.Kind == event.Blocked {
			close(waits)
		}
	}
	f := body(func(*forks, int) int { <-waits; return 7 }).enter(owner)
	publishOne(f, 0)
	j := thief.steal(owner)
	go func() {
		defer close(over)
		thief.execute(j)
	}()
	for j.thief.Load() == nil {
		runtime.Gosched()
	}
	if r := f.join(); r != 7 {
		t.Error("f.join():", r)
	}
	<-over
	s.expect("worker", "worker 0   publishes fork 0.1", "worker 1   steals fork 0.1 from worker 0", "worker 0   spins for fork 0.1 on worker 1",
		"worker 0   spins no more for fork 0.1 on worker 1",
		"worker 0   waits for fork 0.1 on worker 1",
		"worker 1   finishes fork 0.1 of worker 0", "worker 1   passes its slot on to worker 0", "worker 0   goes on")
	if !thief.tryPlace() {
		t.Error("no place is free")
	}
	s.expect("", "worker 1   goes on")
}

// A worker that passes on its place while it helps is told to go on when it has another.
func TestHookOfAReplacedPlace(t *testing.T) {
	p, s := hookedPool(t, 2)
	setPlaces(p, counted{2, 1, 0})
	w := testWorker(p, 0)
	j := &Job{owner: testWorker(p, 1), run: func(*Worker) {}}
	j.owner.wakeup = make(chan struct{})
	j.state.await()
	w.helping = 1
	w.execute(j)
	s.expect("", "worker 0   finishes fork 0.0 of worker 1", "worker 0   passes its slot on to worker 1")
	w.unblockIfPassed()
	s.expect("", "worker 0   goes on")
}

// Who gives up a place for some time tells so, and when it has one again.
func TestHookOfPlaces(t *testing.T) {
	p, s := hookedPool(t, 2)
	w := enter(p)
	s.of("")
	w.LendFor(func() {
		s.expect("", "worker 0   lends its slot")
		w.LendFor(func() {})
		s.expect("")
	})
	s.expect("", "worker 0   goes on")
	w.Suspend(func() {
		s.expect("", "worker 0   gives way")
		_ = p.Places.Enter()
		w.GoOn()
	})
	s.expect("", "worker 0   goes on")
	next := w.Succeed(nil)
	s.expect("", "worker 1   enters")
	exit(next)
	p.SetExtra(2)
	p.SetExtra(2)
	p.SetExtra(0)
	s.expect("", "pool       has slots beyond its limit: 2", "pool       has slots beyond its limit: 0")
	p.Tell(event.Event{Kind: event.Done, Worker: 4, Other: -1, ID: 7, Name: "index"})
	s.expect("", `worker 4   completes task 7 "index"`)
}

// A worker is woken, finds work, looks for more and leaves.
func TestHookOfSearches(t *testing.T) {
	for _, linger := range []time.Duration{0, time.Hour} {
		p, s := hookedPool(t, 1)
		p.Linger = linger
		done := make(chan bool, 1)
		s.on = func(e event.Event) {
			if e.Kind == event.Left {
				done <- true
			}
		}
		for range 2 {
			give(p, func() {})
			<-done
			for p.Places.Load().Active() > 0 || linger > 0 && p.Kept() == 0 {
				runtime.Gosched()
			}
			s.expect("", "worker 0   is woken", "worker 0   finds work", "worker 0   searches", "worker 0   leaves")
		}
		p.Places.Close()
		p.Dismiss()
	}
}

// One that goes without its place leaves too.
func TestHookOfOneWithoutPlace(t *testing.T) {
	p, s := hookedPool(t, 1)
	p.TakePlace()
	w := p.Hire()
	w.Hold.YieldPlace()
	w.run(0, nil)
	s.expect("", "worker 0   leaves")
}

// Without a hook, forks have no ID, and nothing is called.
func TestWithoutAHook(t *testing.T) {
	p := newPool(2)
	w := testWorker(p, 0)
	f := body(identity).enter(w)
	publishOne(f, 1)
	if w.told != 0 || f.jobs.newest().id != 0 {
		t.Errorf("%d publications; the fork has ID %d", w.told, f.jobs.newest().id)
	}
	if n := testing.AllocsPerRun(10, func() { w.Tell(event.Woken, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	f.join()
}

// broken is a hook that does not return.
type broken struct{ fail func() }

func (h *broken) Event(event.Event) { h.fail() }

// A hook that does not return keeps nothing from going on, until the program ends: no place is
// lost and no fork.
func TestAHookThatPanicsLosesNoPlace(t *testing.T) {
	var mu sync.Mutex
	var errs []error
	ends := hookFailed
	defer func() { hookFailed = ends }()
	hookFailed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	p := newPool(2)
	p.AddHook(&broken{func() { panic("oh") }})
	stolen := make(chan bool)
	b := body(func(f *forks, arg int) int {
		if arg == 0 {
			close(stolen)
			return 7
		}
		publishOne(f, 0)
		p.Wake()
		<-stolen
		return f.join()
	})
	if r := b.call(p, 1); r != 7 {
		t.Errorf("the result is %d", r)
	}
	for p.Places.Load().Active() > 0 {
		runtime.Gosched()
	}
	for { // until the thief, which may have passed its place on, has told that it leaves
		unused := p.Unused()
		delete(unused, nil)
		if len(unused) == len(*p.Workers.Load()) {
			break
		}
		runtime.Gosched()
	}
	if c := placesOf(p); c != (counted{}) {
		t.Errorf("the places are %v", c)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(errs) < 4 || errs[0].Error() != "filch: the hook of a pool has not returned: panic: oh" {
		t.Errorf("%v", errs)
	}
}

// A hook that does not return ends the program, with the reason.
func TestAHookThatPanicsEndsTheProgram(t *testing.T) {
	how := map[string]func(){"panic: oh": func() { panic("oh") }, "it called runtime.Goexit": runtime.Goexit}
	if fail := how[os.Getenv("FILCH_HOOK_FAILS")]; fail != nil {
		p := newPool(1)
		p.AddHook(&broken{fail})
		go p.SetExtra(1)
		select {}
	}
	for reason := range how {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAHookThatPanicsEndsTheProgram$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), "FILCH_HOOK_FAILS="+reason)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the hook of a pool has not returned: "+reason) {
			t.Errorf("cmd.CombinedOutput(): %v\n%s", err, out)
		}
	}
}
