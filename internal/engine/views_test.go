package engine

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/filch-go/filch/internal/views"
)

// word is an object whose views are strings.
type word struct {
	key  views.Key
	ends []string
}

func newWord() *word {
	w := &word{}
	w.key.Init(w)
	return w
}

func (o *word) Fresh() unsafe.Pointer          { return unsafe.Pointer(new(string)) }
func (o *word) Fold(into, from unsafe.Pointer) { *(*string)(into) += *(*string)(from) }
func (o *word) End(view unsafe.Pointer)        { o.ends = append(o.ends, *(*string)(view)) }

// write appends s to the view of o on w.
func (o *word) write(w *Worker, s string) {
	v := w.Views.Find(&o.key)
	if v == nil {
		v = o.key.Fresh()
		w.Views = views.Add(w.Views, &o.key, v)
	}
	*(*string)(v) += s
}

// A job begins without views, whatever its worker has, and leaves its own for the join, in order. One that is
// dropped leaves nothing, nor does one that was run before by the same Job.
func TestViewsOfAJob(t *testing.T) {
	p := newPool(2)
	for _, fails := range []bool{false, true} {
		for _, dropped := range []bool{false, true} {
			o, v, w := newWord(), enter(p), enter(p)
			fn := body(func(f *forks, n int) int {
				o.write(f.w, fmt.Sprint("job", n))
				if fails {
					panic("oops")
				}
				return n
			})
			f := fn.enter(v)
			want := "owner "
			o.write(v, want)
			for n := range 3 { // the Job is used again
				f.args = append(f.args, n)
				v.own.Push(owned(f.Publish(), v))
				o.write(w, "thief ")
				w.execute(w.steal(v))
				if dropped {
					f.Drop(0)
					continue
				}
				f.args, f.public = f.args[:0], 0
				if !v.await(&f.jobs.newest().Job) {
					t.Fatal("the job was not stolen")
				}
				if message := recoveredError(func() { f.jobs.Collect() }); fails != (message != "") {
					t.Errorf("failed: %s", message)
				}
				want += fmt.Sprint("job", n)
			}
			v.EndViews()
			w.EndViews()
			if got := fmt.Sprintf("%q", o.ends); got != fmt.Sprintf("%q", []string{want, "thief thief thief "}) || v.Views != nil {
				t.Errorf("fails %t, dropped %t: %s", fails, dropped, got)
			}
			v.Pop()
			exit(v)
			exit(w)
		}
	}
}

// owned makes w the owner of j.
func owned(j *Job, w *Worker) *Job {
	j.owner = w
	return j
}

func recoveredError(f func()) (s string) {
	defer func() {
		if err, ok := recover().(error); ok {
			s = err.Error()
		}
	}()
	f()
	return ""
}

// What the parts of a Finish leave at the same time is all there in the end.
func TestViewsOfAFinish(t *testing.T) {
	p, o := newPool(8), newWord()
	var f Finish
	owner := testWorker(p, 0)
	o.write(owner, "-")
	f.TakeViews(owner)
	var all sync.WaitGroup
	for i := range 8 {
		w := testWorker(p, i+1)
		all.Go(func() {
			for range 100 {
				f.LeaveViews(w) // nothing
				o.write(w, "x")
				f.LeaveViews(w)
			}
		})
	}
	all.Wait()
	f.TakeViews(owner)
	f.TakeViews(owner)
	owner.EndViews()
	if len(o.ends) != 1 || len(o.ends[0]) != 801 || o.ends[0][0] != '-' {
		t.Errorf("newWord(): %q", o.ends)
	}
}

// What begins on a worker finds no views that something before has left.
func TestStartForgetsViews(t *testing.T) {
	p, o := newPool(1), newWord()
	w := enter(p)
	o.write(w, "x")
	exit(w)
	w = enter(p)
	defer exit(w)
	if w.Views != nil {
		t.Error("there are views")
	}
}
