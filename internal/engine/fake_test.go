package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/internal/place/placetest"
)

// tasks is a Source that has nothing to do, unless a test gives it functions to call.
type tasks struct {
	pool    *Pool
	stays   *Worker          // has something still, and is not forgotten
	retired map[*Worker]bool // the forgotten; under the lock of the roster
	asked   atomic.Int64     // how often a worker has looked here
	level   atomic.Int64     // the last that was set
	left    atomic.Int64     // how often all had left

	mu    sync.Mutex
	queue []func()

	gaveWay int // the worker writes
}

// own is what a worker of these tasks is to them.
type own struct {
	Worker // first, so that it is at the same address
	next   func()
}

func ownOf(w *Worker) *own { return (*own)(unsafe.Pointer(w)) }

func (s *tasks) New(id int) *Worker {
	w := &own{}
	w.Init(s.pool, id)
	return &w.Worker
}

func (s *tasks) Retire(w *Worker) bool {
	if w == s.stays {
		return false
	}
	if s.retired[w] {
		panic("a worker is forgotten twice")
	}
	s.retired[w] = true
	return true
}

func (s *tasks) Look(w *Worker) bool {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return false
	}
	ownOf(w).next, s.queue = s.queue[0], s.queue[1:]
	return true
}

func (s *tasks) Serve(w **Worker) { ownOf(*w).next() }

func (s *tasks) PlaceFree() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

func (s *tasks) AllLeft() bool {
	s.left.Add(1)
	return false
}

func (s *tasks) SetLevel(w *Worker, level int64) {
	s.level.Store(level)
	w.Level.Store(level)
}

func (s *tasks) Found()                                        {}
func (s *tasks) Waiting() bool                                 { return false }
func (s *tasks) Woken()                                        {}
func (s *tasks) GiveWay(*Worker)                               { s.gaveWay++ }
func (s *tasks) LabelsOf(ctx context.Context) *context.Context { return nil }

// newPool returns a pool of so many places, without tasks.
func newPool(limit int) *Pool {
	p := &Pool{}
	p.Init(&tasks{pool: p, retired: map[*Worker]bool{}}, func(v any) error { return fmt.Errorf("panic: %v", v) }, Settings{})
	p.SetLimit(int32(limit), true)
	return p
}

// tasksOf returns the Source of p.
func tasksOf(p *Pool) *tasks { return p.source.(*tasks) }

// give has a worker of p call f.
func give(p *Pool, f func()) {
	s := tasksOf(p)
	s.mu.Lock()
	s.queue = append(s.queue, f)
	s.mu.Unlock()
	p.Wake()
}

// testWorker returns a worker of p that is in none of its lists.
func testWorker(p *Pool, id int) *Worker { return p.source.New(id) }

// enter makes the caller a worker of p with a place.
func enter(p *Pool) *Worker {
	_ = p.Enter()
	w := p.Hire()
	w.Start()
	return w
}

// exit gives back what enter gave.
func exit(w *Worker) {
	p := w.pool
	p.Fire(w)
	p.Leave()
}

// counted is what places are set to, and compared with.
type counted struct{ Active, Searching, Blocked int }

// placesOf returns the counts of p.
func placesOf(p *Pool) counted { return counted(placetest.Of(&p.Places)) }

// setPlaces makes the counts of p those.
func setPlaces(p *Pool, c counted) { placetest.Set(&p.Places, placetest.Counts(c)) }

// lends tells the functions of a package pool that give up a place.
func lends(function string) bool {
	return function == "pool.Blocking" || function == "pool.(*Worker).Blocking" || function == "pool.(*latch).wait"
}

// recoveredFrom returns what f panics with, as a string.
func recoveredFrom(f func()) (s string) {
	defer func() { s, _ = recover().(string) }()
	f()
	return ""
}

// body is a function that may fork calls of itself.
type body func(f *forks, arg int) int

// forks is an activation of a body.
type forks struct {
	w      *Worker
	body   body
	args   []int // of the open forks, the oldest first
	public int   // so many of them are public
	jobs   Published[int, int]
}

// call calls b in p.
func (b body) call(p *Pool, arg int) int {
	w := enter(p)
	defer exit(w)
	return b.Run(w, arg)
}

func (b body) Run(w *Worker, arg int) int {
	f := b.enter(w)
	r := b(f, arg)
	w.Pop()
	f.Close()
	return r
}

func (b body) Entry() uintptr { return EntryOf(b) }

func (b body) enter(w *Worker) *forks {
	f := &forks{w: w, body: b}
	w.Push(f)
	return f
}

// fork forks a call with arg.
func (f *forks) fork(arg int) {
	f.args = append(f.args, arg)
	f.w.Poll()
}

// join returns the result of the newest fork.
func (f *forks) join() int {
	n := len(f.args) - 1
	arg, here := f.args[n], true
	if f.public > n {
		here = f.jobs.TakeBack(f.w)
		f.public = n
	}
	f.args = f.args[:n]
	if !here {
		return f.jobs.Collect()
	}
	f.w.Poll()
	return f.body(f, arg)
}

func (f *forks) Publish() *Job {
	if f.public == len(f.args) {
		return nil
	}
	f.public++
	return f.jobs.Add(f.body, f.args[f.public-1])
}

func (f *forks) Forks() int { return len(f.args) }

func (f *forks) Drop(n int) {
	for ; f.public > n; f.public-- {
		f.jobs.Forget(f.w)
	}
	f.args = f.args[:n]
}

func (f *forks) Close() { f.w = nil }
