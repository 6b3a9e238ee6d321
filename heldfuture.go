package filch

// The methods of a futureTask for what holds it back, or refuses it.

func (t *futureTask[T]) dropChild() { t.logical.Get().end(&t.ctx) }

func (t *futureTask[T]) Free() { t.ctx.state.free() }

func (t *futureTask[T]) drop(err error) { t.future().drop(err) }

func (t *futureTask[T]) follow() { t.future().Done() }

// dropFor drops the task because of err, and adds those that come after it to rest, which the caller
// tells of it.
func (t *futureTask[T]) dropFor(err error, rest **dependency) {
	f := t.future()
	if !f.claimFromOutside() {
		return
	}
	defer f.cancel(err)
	for d := f.ctx.extras.Load().dependents.Swap(nil); d != nil; {
		next := d.next
		d.next, *rest = *rest, d
		d = next
	}
}
