package cluster

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/nats-io/nuid"
)

// mapAhead is how many tasks of MapReduce are submitted and not combined, at most.
const mapAhead = 256

// MapReduce submits a task of a handler for each of inputs, and combines the results: combine(combine(combine(a, b), c), d)
// and so on, in the order of inputs, one call at a time, on the goroutine that calls MapReduce. So combine need not be
// associative, and the result is that of a serial loop. For no inputs it is zero, for one the result of its task.
//
// It is meant for coarse work: a task costs about as much as a few hundred microseconds of computing. So an input should be a
// chunk, such as those of [slices.Chunk], and the handler should reduce its chunk before it returns. Inside of the
// handler, package par divides the chunk among the workers of its node.
//
// At most 256 tasks are submitted and not yet combined; then inputs is asked for the next one only when a result was
// combined. With [filch.Reject] and a full stream, MapReduce goes on when one of its own tasks has ended. All tasks are
// stored. If one fails, or ctx ends, those that have not ended are canceled, and MapReduce returns that error as soon as
// it knows of it. If the process ends, those that are submitted run, and their results are not combined. The servers
// keep the results as long as [WithResultsFor] says: they need room for all of them, so a handler should return little.
//
// A handler can call MapReduce: it lends its slot meanwhile. The options are those of the tasks. [ID], [NoResult],
// [Unique] and [LocalFirst] are errors. MapReduce panics if an argument is nil.
func MapReduce[In, Out any](ctx context.Context, n *Node, handler string, inputs iter.Seq[In], combine func(a, b Out) Out, opts ...SubmitOption) (Out, error) {
	if ctx == nil || n == nil || inputs == nil || combine == nil {
		panic("cluster: MapReduce with a nil argument")
	}
	var none Out
	s, err := newSubmission(opts)
	if err != nil {
		return none, err
	}
	if s.id != "" || s.noResult || s.unique != "" || s.local {
		return none, errors.New("cluster: MapReduce takes no ID, NoResult, Unique and LocalFirst")
	}
	ctx, fail := context.WithCancelCause(ctx)
	m := &mapping[Out]{n: n, ctx: ctx, fail: fail, combine: combine}
	defer m.end()
	for in := range inputs {
		if err := m.submit(handler, in, s); err != nil {
			return none, err
		}
		for len(m.open) >= mapAhead {
			if err := m.next(); err != nil {
				return none, err
			}
		}
	}
	for len(m.open) > 0 {
		if err := m.next(); err != nil {
			return none, err
		}
	}
	return m.sum, nil
}

// submit submits the task of an input. If there is no room, it waits for an own task.
func (m *mapping[Out]) submit(handler string, in any, s submission) error {
	for {
		err := m.trySubmit(handler, in, s)
		if cause := context.Cause(m.ctx); err != nil && cause != nil {
			return cause
		}
		if !errors.Is(err, ErrQueueFull) || len(m.open) == 0 {
			return err
		}
		if err := m.next(); err != nil {
			return err
		}
	}
}

// trySubmit submits the task of an input. One that may be stored though there was an error is canceled at the end.
func (m *mapping[Out]) trySubmit(handler string, in any, s submission) error {
	n := m.n
	if n.looking.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(m.ctx, submitWait)
	defer cancel()
	t, subject, err := n.newTask(ctx, handler, in, s)
	if err != nil {
		return err
	}
	t.id = encode(nuid.Next())
	r, err := n.submit(ctx, t, subject, s)
	if err == nil {
		m.add(&Future[Out]{n: n, remote: r})
	} else if !isRefused(err) {
		m.unsure = append(m.unsure, t.id)
	}
	return err
}

// mapping is a call of MapReduce.
type mapping[Out any] struct {
	n       *Node
	ctx     context.Context
	fail    context.CancelCauseFunc // ends ctx with the error of a task
	combine func(a, b Out) Out
	open    []*Future[Out] // of the tasks that are not combined, in order
	unsure  []token        // IDs of tasks that may be stored
	sum     Out
	some    bool // sum is that of one task at least
	watch   sync.WaitGroup
}

// add adds the next task, and watches whether it fails before its turn.
func (m *mapping[Out]) add(f *Future[Out]) {
	m.open = append(m.open, f)
	m.watch.Go(func() {
		select {
		case <-f.Done():
			if err := f.failure(); err != nil {
				m.fail(err)
			}
		case <-m.ctx.Done():
		}
	})
}

// next combines the next result.
func (m *mapping[Out]) next() error {
	v, err := m.open[0].Wait(m.ctx)
	if err != nil {
		if cause := context.Cause(m.ctx); cause != nil {
			err = cause
		}
		return err
	}
	m.open = m.open[1:]
	if m.some {
		v = m.combine(m.sum, v)
	}
	m.sum, m.some = v, true
	return nil
}

// end cancels the tasks that have not ended.
func (m *mapping[Out]) end() {
	m.fail(nil)
	m.watch.Wait()
	ctx, cancel := m.n.asking()
	defer cancel()
	ids := m.unsure
	for _, f := range m.open {
		select {
		case <-f.Done():
		default:
			ids = append(ids, f.remote.id)
		}
	}
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			if err := m.n.cancelTask(ctx, id); err != nil {
				m.n.log.Warn("filch cluster: a task was not canceled", "node", m.n.node, "task", id, "error", err)
			}
		})
	}
	all.Wait()
}

// failure returns the error of a task in the stream that has ended, without its result.
func (f *Future[T]) failure() error {
	o, err := f.remote.promise.Future().Wait(context.Background())
	if err != nil {
		return err
	}
	return o.err(f.remote.id)
}
