package engine

// A Store keeps what runs of another package leave for those that come next, such as goroutines. It
// belongs to one pool. The engine knows no more of it than this.
type Store interface {
	// End lets go of all, for good: the pool has ended. It may be called by any goroutine.
	End()
}

// Store returns what SetStore was called with, or nil.
func (p *Pool) Store() Store {
	if s := p.store.Load(); s != nil {
		return *s
	}
	return nil
}

// SetStore makes s the Store of p, unless there is one, and returns that of p. It is called by what
// has a place of p, so p has not ended.
func (p *Pool) SetStore(s Store) Store {
	p.store.CompareAndSwap(nil, &s)
	return p.Store()
}

// EndStore is called when p has ended.
func (p *Pool) EndStore() {
	if s := p.Store(); s != nil {
		s.End()
	}
}
