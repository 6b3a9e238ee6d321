package filch

import "context"

// admits returns why a task of a caller that has ctx is refused, if it is. A pool that is
// being shut down takes tasks from its own.
func (p *Pool) admits(ctx context.Context) error {
	if phase := p.phase.Load(); phase != open {
		if c := taskOf(ctx); phase != draining || c == nil || c.pool != p {
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// refuse counts a task that was not accepted, and returns err.
func (p *Pool) refuse(b runnable, err error) error {
	if p.sees {
		p.announce(b, TaskRejected, err, func() {})
	}
	p.ended.rejected.Add(1)
	return err
}
