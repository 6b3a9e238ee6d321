package formats

import (
	"bytes"
	"context"
	"io"
	"runtime/trace"
	"testing"

	"github.com/filch-go/filch"
	xtrace "golang.org/x/exp/trace"
)

// seen is what a trace of the Go runtime has of the pool's.
type seen struct {
	tasks   map[xtrace.TaskID]string
	ended   map[xtrace.TaskID]bool
	regions map[string][]xtrace.TaskID // the tasks of those that began and ended
}

// runtimeTrace returns what there is of f.
func runtimeTrace(t *testing.T, f func()) seen {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err) // the tests themselves are traced
	}
	f()
	trace.Stop()
	r, err := xtrace.NewReader(&b)
	if err != nil {
		t.Fatal("xtrace.NewReader(&b):", err)
	}
	s := seen{map[xtrace.TaskID]string{}, map[xtrace.TaskID]bool{}, map[string][]xtrace.TaskID{}}
	open := map[xtrace.GoID][]string{}
	for {
		e, err := r.ReadEvent()
		if err == io.EOF {
			return s
		}
		if err != nil {
			t.Fatal("r.ReadEvent():", err)
		}
		switch e.Kind() {
		case xtrace.EventTaskBegin:
			s.tasks[e.Task().ID] = e.Task().Type
		case xtrace.EventTaskEnd:
			s.ended[e.Task().ID] = true
		case xtrace.EventRegionBegin:
			open[e.Goroutine()] = append(open[e.Goroutine()], e.Region().Type)
		case xtrace.EventRegionEnd:
			all := open[e.Goroutine()]
			if len(all) == 0 || all[len(all)-1] != e.Region().Type {
				t.Errorf("region %q ends, where %q are open", e.Region().Type, all)
				continue
			}
			open[e.Goroutine()] = all[:len(all)-1]
			s.regions[e.Region().Type] = append(s.regions[e.Region().Type], e.Region().Task)
		}
	}
}

func countToTen(context.Context) {}

// go tool trace shows tasks as tasks, with a region each, and forks that were stolen as regions.
func TestGoToolTraceShowsTasksAndStolenForks(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithPanicHandler(func(*filch.PanicError) {}))
	defer p.Close()
	meet.Call(p, new(meeting)) // not traced
	s := runtimeTrace(t, func() {
		for range 3 {
			meet.Call(p, new(meeting))
		}
		p.Go(background, countToTen)
		p.Go(background, func(context.Context) { panic("x") }, filch.Named("panics"))
		p.Shutdown(background)
	})
	if n := len(s.regions["filch fork formats.runMeet"]); n != 3 {
		t.Errorf("there are %d forks: %v", n, s.regions)
	}
	if len(s.tasks) != 2 {
		t.Errorf("there are tasks %v", s.tasks)
	}
	for id, name := range s.tasks {
		if of := s.regions[name]; !s.ended[id] || len(of) != 1 || of[0] != id || name != "filch formats.countToTen" && name != "filch panics" {
			t.Errorf("task %q has ended: %t; its regions are of %v, not %v", name, s.ended[id], of, id)
		}
	}
}
