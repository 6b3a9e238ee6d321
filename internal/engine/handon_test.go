package engine

import (
	"runtime"
	"testing"
)

// twoTaken returns a pool of one place and an extra one, which is taken: where forks are published.
func twoTaken() *Pool {
	p := newPool(1)
	p.SetExtra(1)
	p.Enter()
	return p
}

// aJob runs f inside a call that has forked one call of fn, which some other
// worker has stolen but not begun.
func aJob(p *Pool, f func(thief *Worker, j *Job)) int {
	fn := body(func(f2 *forks, arg int) int {
		if arg == 0 {
			return 1
		}
		f2.fork(0)
		w := f2.w
		w.Raise(Hunger)
		w.Answer()
		thief := p.hireSlow()
		j := thief.steal(w)
		f(thief, j)
		return f2.join() + 1
	})
	return fn.call(p, 1)
}

// A job that was stolen by one that must not run it is run by its owner if
// nobody else comes, and by the first that comes.
func TestAJobThatWasHandedOnRunsOnce(t *testing.T) {
	p := twoTaken()
	var by *Worker
	if n := aJob(p, func(thief *Worker, j *Job) { thief.handOn(j); by = thief }); n != 2 {
		t.Errorf("by its owner: %d", n)
	}
	by.flush() // which is in nobody's use, and so in no list
	if f := p.Figures(func() {}, func(*Worker) {}); f.Published != 1 || f.Steals != 1 || f.TakenBack != 0 {
		t.Errorf("a fork that was stolen, handed on and run by its owner is counted as %+v, not as one that was stolen", f)
	}
	if n := p.global.n.Load(); n != 0 {
		t.Errorf("%d jobs left", n)
	}
	if n := aJob(p, func(thief *Worker, j *Job) {
		thief.handOn(j)
		if k, _ := thief.look(false); k != j {
			t.Fatalf("found %p, not %p", k, j)
		}
		thief.execute(j)
	}); n != 2 {
		t.Errorf("by another: %d", n)
	}
	// The owner is blocked already, and its place free for one that comes.
	if n := aJob(p, func(thief *Worker, j *Job) {
		go func() {
			for p.Places.Load().Blocked() == 0 {
				runtime.Gosched()
			}
			thief.handOn(j)
		}()
	}); n != 2 {
		t.Errorf("while its owner is blocked: %d", n)
	}
	if s := p.Places.Load(); s.Active() > 1 {
		t.Errorf("p.Places.Load(): %v", s)
	}
}

// A worker that leaves asks those that work for forks, and starts a worker if
// work is public that nobody looks for.
func TestWhoLeavesLooksForWork(t *testing.T) {
	p := newPool(2)
	stays, leaves := enter(p), enter(p)
	stays.Demand = None
	exit(leaves)
	if stays.Demand != Hunger {
		t.Errorf("demand %d after a place became free, want %d", stays.Demand, Hunger)
	}
	leaves = enter(p)
	ran := make(chan bool)
	p.global.add(&Job{run: func(*Worker) { close(ran) }, owner: stays, level: 3})
	exit(leaves)
	<-ran
	if n := tasksOf(p).level.Load(); n != 3 {
		t.Errorf("it runs on the level %d", n)
	}
	exit(stays)
}
