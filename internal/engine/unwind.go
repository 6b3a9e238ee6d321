package engine

// Checkpoint is a state of a worker's forks to return to.
type Checkpoint struct {
	acts, forks int
	Spans       int // of the worker's Recorder, if there is one
}

func (w *Worker) Checkpoint() Checkpoint {
	m := w.CheckpointAt(0)
	if m.acts > 0 {
		m.forks = w.activations[m.acts-1].Forks()
	}
	return m
}

// CheckpointAt is Checkpoint for a newest activation with n forks.
func (w *Worker) CheckpointAt(n int) Checkpoint {
	m := Checkpoint{acts: len(w.activations), forks: n}
	if w.Spans != nil {
		m.Spans = w.Spans.Depth()
	}
	return m
}

// Try calls f. If f panics, the forks it has left open are dropped, and the
// panic is returned. If f ends in runtime.Goexit, they are dropped as well, and
// the goroutine exits.
func (w *Worker) Try(f func()) (err error) {
	w.CheckUse()
	returned := false
	m := w.Checkpoint()
	defer func() {
		if !returned {
			err = w.Caught(m, recover())
		}
	}()
	f()
	returned = true
	return nil
}

// Unwind calls drop, which drops forks of w while a panic passes, or runtime.Goexit. w does not help
// meanwhile.
func (w *Worker) Unwind(drop func()) {
	before := w.unwinding
	w.unwinding = true
	drop()
	w.unwinding = before
}

// Caught drops the forks above m after a panic with value v, or after
// runtime.Goexit, if v is nil: then it returns nil. It must be called while
// the panic's stack is still there.
func (w *Worker) Caught(m Checkpoint, v any) (err error) {
	if v != nil {
		err = w.pool.wrap(v)
	}
	w.unwinding = true
	for n := len(w.activations); n > m.acts; n-- {
		a := w.activations[n-1]
		a.Drop(0)
		w.Pop()
		a.Close()
	}
	if m.acts > 0 {
		w.activations[m.acts-1].Drop(m.forks)
	}
	w.unwinding = false
	if w.Spans != nil {
		w.Spans.Unwind(m.Spans)
	}
	return err
}
