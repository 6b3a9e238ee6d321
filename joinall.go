package filch

import (
	"fmt"
)

// Mark is a place among the forks of a [Frame]: those made later are above it. [Frame.Mark] makes
// one. Only the call that has made it may use it.
type Mark[A, R any] struct {
	f *Frame[A, R]
	n Fork // position of the newest fork below
}

// Mark returns the place above the forks that are open now, those of the callers included. It
// costs a load.
func (f *Frame[A, R]) Mark() Mark[A, R] { return Mark[A, R]{f, f.n} }

// JoinAll joins the forks above m, the newest first. It yields the result of each, and before that
// its number, which counts down to 0 for the oldest. So a body that forks in a loop need not
// keep a [Fork] of each:
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
// Forks that the loop makes are joined as well. A loop that is left early, by break, return or a
// panic, also of a fork, drops the forks that are still open: those that no other worker has begun do
// not run, and the others are awaited. JoinAll panics if a fork below m was joined, or m is the zero
// Mark, and as [Frame.Join] does if a call has panicked on another worker. A body that recovers a panic
// of Join or [Frame.Call] must not use a Mark from before: what the call has left open lies above it.
//
// JoinAll allocates nothing. It costs a little more than to join forks that are kept in an array.
func (m Mark[A, R]) JoinAll(yield func(i int, r R) bool) {
	// yield is not kept, so that the body of the loop is not allocated. To return a function to
	// range over would do so wherever the compiler does not inline that.
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

// close drops the forks above m without a word, if a panic or runtime.Goexit has left them open. A body
// may recover the panic, and the forks of a call that it has passed are no forks of the body.
func (m Mark[A, R]) close() {
	if m.f.n > m.n {
		m.f.w.Unwind(func() { (*frameForks[A, R])(m.f).Drop(int(m.n)) })
	}
}

// drop drops the forks above m, with the views of those that run elsewhere. It panics as Join does if
// one has panicked there.
func (m Mark[A, R]) drop() {
	w := m.f.w
	views := w.SetViewsAside()
	defer w.RestoreViews(views)
	for m.f.n > m.n {
		if m.f.w.IsLogical() {
			m.f.jobs.DropChild(m.f.w) // which taking back would run
		}
		m.f.takeBack()
		if m.f.w.Spans != nil {
			m.f.w.Spans.Drop()
		}
	}
}
