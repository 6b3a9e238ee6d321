package filch

import (
	"fmt"
)

// Mark is a position among the forks of a [Frame]; later forks are above it. [Frame.Mark] makes one. Only the call that made
// it may use it.
type Mark[A, R any] struct {
	f *Frame[A, R]
	n Fork // position of the newest fork below
}

// Mark returns the position above the forks open now, including those of callers. It costs a load.
func (f *Frame[A, R]) Mark() Mark[A, R] { return Mark[A, R]{f, f.n} }

// JoinAll joins the forks above m, newest first, and yields each one's number, which counts down to 0 for the oldest, and its
// result. A body that forks in a loop need not keep each [Fork]:
//
//	m := f.Mark()
//	for _, c := range t.children {
//		f.Fork(c)
//	}
//	sum := t.value
//	for _, r := range m.JoinAll {
//		sum += r
//	}
//
// Forks made by the loop are joined as well. If the loop ends early, by break, return or a panic (also of a fork), the open
// forks are dropped: those that no other worker has begun do not run, and the others are awaited. JoinAll panics if a fork
// below m was joined, if m is the zero Mark, and as [Frame.Join] does if a call panicked on another worker. A body that
// recovers a panic of Join or [Frame.Call] must not use an earlier Mark: forks that the call has left open are above it.
//
// JoinAll allocates nothing. It costs a little more than joining forks kept in an array.
func (m Mark[A, R]) JoinAll(yield func(i int, r R) bool) {
	// yield does not escape, so the loop body is not allocated. Returning a function to range over would allocate it wherever
	// the compiler does not inline that.
	f := m.f
	if f == nil {
		panic("filch: JoinAll of a Mark that Frame.Mark has not made")
	}
	if f.w.Checked() {
		f.w.CheckUse()
	}
	if f.n < m.n {
		panic(fmt.Sprintf("filch: JoinAll of a Mark above fork %d, which was joined: the newest open fork is %d (0 is none)", m.n-bottom, f.n-bottom))
	}
	defer m.close()
	for f.n > m.n {
		r := f.joinNewest()
		if !yield(int(f.n-m.n), r) {
			m.drop()
		}
	}
}

// close silently drops forks above m that a panic or runtime.Goexit has left open. A body may recover the panic, and forks of
// a call that the panic ended are not the body's.
func (m Mark[A, R]) close() {
	if m.f.n > m.n {
		m.f.w.Unwind(func() { (*frameForks[A, R])(m.f).Drop(int(m.n)) })
	}
}

// drop drops the forks above m, with the views of those that run elsewhere. It panics as Join does if one has panicked there.
func (m Mark[A, R]) drop() {
	w := m.f.w
	views := w.SetViewsAside()
	defer w.RestoreViews(views)
	for m.f.n > m.n {
		if m.f.w.IsLogical() {
			m.f.jobs.DropChild(m.f.w) // taking it back would run it
		}
		m.f.takeBack()
		if m.f.w.Spans != nil {
			m.f.w.Spans.Drop()
		}
	}
}
