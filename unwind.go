package filch

// checkpoint is a state of a worker's forks to return to.
type checkpoint struct{ acts, forks int }

func (w *engineWorker) checkpoint() checkpoint {
	m := checkpoint{acts: len(w.acts)}
	if m.acts > 0 {
		m.forks = w.acts[m.acts-1].Forks()
	}
	return m
}

// checkpointAt is checkpoint for a newest activation with n forks.
func (w *engineWorker) checkpointAt(n int) checkpoint { return checkpoint{len(w.acts), n} }

// try calls f. If f panics, the forks it has left open are dropped, and the
// panic is returned. If f ends in runtime.Goexit, they are dropped as well, and
// the goroutine exits.
func (w *engineWorker) try(f func()) (err error) {
	w.checkUse()
	returned := false
	m := w.checkpoint()
	defer func() {
		if !returned {
			err = w.caught(m, recover())
		}
	}()
	f()
	returned = true
	return nil
}

// caught drops the forks above m after a panic with value v, or after
// runtime.Goexit, if v is nil: then it returns nil. It must be called while
// the panic's stack is still there.
func (w *engineWorker) caught(m checkpoint, v any) (err error) {
	if v != nil {
		err = w.crew.wrap(v)
	}
	w.unwinding = true
	for n := len(w.acts); n > m.acts; n-- {
		a := w.acts[n-1]
		a.Drop(0)
		w.pop()
		a.Close()
	}
	if m.acts > 0 {
		w.acts[m.acts-1].Drop(m.forks)
	}
	w.unwinding = false
	return err
}
