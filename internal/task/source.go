package task

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/policy"
)

// source is a Pool as its engine sees it: a source of work.
type source Pool

var _ engine.Source = (*source)(nil)

func (s *source) pool() *Pool { return (*Pool)(s) }

func (s *source) New(id int) *engine.Worker { return &s.Users.NewWorker(s.pool(), id).Engine }

func (s *source) Retire(w *engine.Worker) bool {
	p, v := s.pool(), of(w)
	if v.left.Load() > 0 || !v.Own.leave() {
		return false
	}
	v.addTo(&p.retired, 0)
	return true
}

// Look takes a task for w to serve, in the policy's order.
func (s *source) Look(w *engine.Worker) bool {
	p, v := s.pool(), of(w)
	order := &policy.LookForTasks
	if p.Order == ByPriority {
		order = &policy.LookByPriority
	}
	for _, at := range order {
		var ok bool
		switch at {
		case policy.Own:
			if v.Own.some.Load() || v.Own.turn.Due() {
				v.next, ok = v.nextTask()
			}
		case policy.Global:
			v.next, ok = v.takeFrom(&p.Global, p.Engine.Size(), false)
		case policy.Others:
			v.next, ok = v.stealTask()
		}
		if ok {
			return true
		}
	}
	return false
}

func (s *source) Serve(w **engine.Worker) {
	v := of(*w)
	t := v.next
	v.next = Task{}
	if v.serve(t, w) {
		runtime.Gosched()
	}
	if s.pool().way.n.Load() > 0 {
		of(*w).passPlace()
	}
}

func (s *source) Found() {
	p := s.pool()
	p.urge()
	if watch := p.watches.Load(); watch != nil && p.watch.Load() == nil {
		(*watch)()
	}
}

func (s *source) PlaceFree() bool {
	p := s.pool()
	for p.way.n.Load() > 0 && p.letOneGoOn() { // (R11)
	}
	return !p.Paused.Load() && p.mayHaveTasks() // (R11)
}

func (s *source) Waiting() bool { return s.pool().way.n.Load() > 0 }

func (s *source) Woken() { s.pool().forgetLostWatch() }

func (s *source) AllLeft() bool { return s.pool().allLeft() }

func (s *source) GiveWay(w *engine.Worker) { of(w).giveWay() }

func (s *source) SetLevel(w *engine.Worker, level int64) { of(w).SetLevel(level) }

func (s *source) LabelsOf(ctx context.Context) *context.Context { return LabelsOf(ctx) }
