package par

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// withError are the functions that return an error, as loops over n elements that call f for
// each.
var withError = []struct {
	name string
	loop func(s filch.Scope, n int, f func(), opts ...Option) error
}{
	{"ForErr", func(s filch.Scope, n int, f func(), opts ...Option) error {
		return ForErr(s, n, func(int) error { f(); return nil }, opts...)
	}},
	{"MapErr", func(s filch.Scope, n int, f func(), opts ...Option) error {
		_, err := MapErr(s, make([]int, n), func(int) (int, error) { f(); return 0, nil }, opts...)
		return err
	}},
	{"Pipeline.Run", func(s filch.Scope, n int, f func(), _ ...Option) error {
		return From(count(n)).Run(s, func(int) error { f(); return nil })
	}},
	{"ForLines", func(s filch.Scope, n int, f func(), _ ...Option) error {
		return ForLines(s, strings.NewReader(strings.Repeat("\n", n)), func(int64, []byte) error { f(); return nil })
	}},
	{"WalkDir", func(s filch.Scope, n int, f func(), _ ...Option) error {
		fsys := fstest.MapFS{}
		for i := range n {
			fsys[fmt.Sprintf("d%d/f", i)] = &fstest.MapFile{}
		}
		return WalkDir(s, fsys, ".", func(string, fs.DirEntry, error) error { f(); return nil })
	}},
}

// count yields 0 to n-1.
func count(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// shutDown begins to shut p down, and returns what waits for the end.
func shutDown(t *testing.T, p *filch.Pool) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- p.Shutdown(context.Background()) }()
	for !p.Closed() {
		runtime.Gosched()
	}
	return func() {
		if err := <-done; err != nil {
			t.Error("<-done:", err)
		}
	}
}

func TestClosedPoolIsAnErrorForAnySize(t *testing.T) {
	for name, end := range map[string]func(p *filch.Pool) error{
		"Close":    (*filch.Pool).Close,
		"Shutdown": func(p *filch.Pool) error { return p.Shutdown(context.Background()) },
	} {
		for _, tt := range withError {
			p := filch.New(filch.WithWorkers(2))
			for range 3 { // small inputs are known to need no pool
				if err := tt.loop(p, 10, func() {}); err != nil {
					t.Fatal("tt.loop(p, 10, …):", tt.name, err)
				}
			}
			if err := end(p); err != nil {
				t.Fatal("end(p):", err)
			}
			for _, n := range []int{1, 2, 10, 1000} {
				for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(5000)}, {AllErrors()}} {
					err := tt.loop(p, n, func() { t.Errorf("%s of %d calls its function", tt.name, n) }, opts...)
					if err != filch.ErrClosed {
						t.Errorf("%s of %d after %s: %v", tt.name, n, name, err)
					}
				}
			}
		}
		p := filch.New()
		end(p)
		if err := ForErr(p, 0, func(int) error { return nil }); err != nil {
			t.Errorf("ForErr of nothing after %s: %v", name, err)
		}
		if x, err := MapErr(p, []int{}, func(int) (int, error) { return 0, nil }); err != nil || len(x) != 0 {
			t.Errorf("MapErr of nothing after %s: %v, %v", name, x, err)
		}
	}
}

func TestRunOnAClosedPoolLeavesTheSourceAlone(t *testing.T) {
	p := filch.New()
	p.Close()
	source := func(func(int) bool) { t.Error("the source is called") }
	if err := From(source).Run(p, func(int) error { return nil }); err != filch.ErrClosed {
		t.Error("From(source).Run(p, …):", err)
	}
}

// What cannot return an error runs what is small, and panics otherwise.
func TestWithoutAnErrorAClosedPoolPanics(t *testing.T) {
	racetest.Skip(t, "small loops are cut, too")
	synctest.Test(t, func(t *testing.T) { // where a busy machine makes nothing seem dear
		p := filch.New(filch.WithWorkers(2))
		f := func(int) {}
		for range 3 {
			For(p, 10, f)
		}
		p.Close()
		For(p, 10, f)
		For(p, 0, f)
		defer func() {
			if v := recover(); !strings.Contains(fmt.Sprint(v), "closed Pool") {
				t.Error("recover():", v)
			}
		}()
		For(p, 1_000_000, func(int) {})
		t.Error("a large loop runs")
	})
}

// A worker is inside, and goes on.
func TestAWorkerGoesOnWhileThePoolIsBeingClosed(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	wait := func() {}
	p.Do(func(w *filch.Worker) {
		wait = shutDown(t, p)
		for _, tt := range withError {
			for _, n := range []int{1, 100} {
				if err := tt.loop(w, n, func() {}); err != nil {
					t.Errorf("%s of %d on a Worker: %v", tt.name, n, err)
				}
				if err := tt.loop(p, n, func() {}); err != filch.ErrClosed {
					t.Errorf("%s of %d on the Pool: %v", tt.name, n, err)
				}
			}
		}
		For(w, 1000, func(int) {})
	})
	wait()
}

// So is a task, until the pool has ended.
func TestATaskGoesOnWhileThePoolIsBeingClosed(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	wait := func() {}
	var kept filch.Scope
	done := make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) {
		defer close(done)
		kept = filch.ScopeOf(ctx)
		wait = shutDown(t, p)
		for _, tt := range withError {
			for _, n := range []int{1, 100} {
				if err := tt.loop(kept, n, func() {}); err != nil {
					t.Errorf("%s of %d in a task: %v", tt.name, n, err)
				}
			}
		}
		For(kept, 1000, func(int) {})
	})
	<-done
	wait()
	for _, tt := range withError {
		for _, n := range []int{1, 100} {
			if err := tt.loop(kept, n, func() {}); err != filch.ErrClosed {
				t.Errorf("%s of %d after the end: %v", tt.name, n, err)
			}
		}
	}
}

// onlyDo is a Scope of somebody else's.
type onlyDo struct{ w *filch.Worker }

func (s onlyDo) Do(f func(w *filch.Worker)) { f(s.w) }

func TestAnyOtherScopeIsCalled(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	p.Do(func(w *filch.Worker) {
		wait := shutDown(t, p)
		defer func() { go wait() }()
		for _, tt := range withError {
			if err := tt.loop(onlyDo{w}, 100, func() {}); err != nil {
				t.Errorf("tt.loop(…, 100, …): %s: %v", tt.name, err)
			}
		}
	})
	p.Close()
}

// A loop that seemed to need no pool, and then does, finds it closed.
func TestAPoolThatClosesInTheMiddleIsAnError(t *testing.T) {
	racetest.Skip(t, "small loops are cut, too")
	for range 20 {
		p := filch.New(filch.WithWorkers(2))
		var wait func()
		done := 0
		f := func(int) error {
			done++
			if wait == nil {
				wait = shutDown(t, p)
				for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; { // more than was known
				}
			}
			return nil
		}
		costOf(f, asIs).each.Store(fastest)
		if err := ForErr(p, 20, f); err != filch.ErrClosed {
			t.Errorf("ForErr(p, 20, f): %v", err)
		}
		if done == 0 || done == 20 {
			t.Errorf("%d are done", done)
		}
		wait()
	}
}

// The errors that there are by then are not lost.
func TestAllErrorsBeforeAPoolClosesAreKept(t *testing.T) {
	racetest.Skip(t, "small loops are cut, too")
	p := filch.New(filch.WithWorkers(2))
	var wait func()
	bad := errors.New("bad")
	f := func(int) error {
		if wait == nil {
			wait = shutDown(t, p)
			for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
			}
		}
		return bad
	}
	costOf(f, asIs).each.Store(fastest)
	if err := ForErr(p, 20, f, AllErrors()); !errors.Is(err, bad) || !errors.Is(err, filch.ErrClosed) {
		t.Error("ForErr(p, 20, f, AllErrors()):", err)
	}
	wait()
}

// A pipeline under way goes on to the end, though the caller of Run is turned away when it
// comes back from a rest.
func TestAPipelineUnderWayGoesOnWhenThePoolCloses(t *testing.T) {
	for range 30 {
		p := filch.New(filch.WithWorkers(2))
		var wait func()
		second := make(chan bool)
		source := func(yield func(int) bool) {
			for i := range 100 {
				if i == 1 { // taken by a guest, for the first is still in its stage
					close(second)
					for p.Stats().Active > 1 { // until all others rest
						runtime.Gosched()
					}
					wait = shutDown(t, p)
				}
				if !yield(i) {
					return
				}
			}
		}
		var got []int
		err := Stage(From(source), 0, func(v int) (int, error) {
			if v == 0 {
				<-second
			}
			return v, nil
		}).Run(p, func(v int) error {
			got = append(got, v)
			return nil
		})
		if err != nil || !slices.Equal(got, slices.Collect(count(100))) {
			t.Fatal("Stage(From(source), 0, …).Run(p, …):", err, got)
		}
		wait()
	}
}
