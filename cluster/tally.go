package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// tally is which of some tasks have ended. It is stored under a key, and changed by compare-and-swap.
type tally struct {
	Size   int    `json:"size"`             // how many tasks
	Of     string `json:"of,omitempty"`     // which
	Ended  []byte `json:"ended,omitempty"`  // a bit for each
	Failed []byte `json:"failed,omitempty"` // a bit for each, that has ended and not well
}

// complete reports whether all have ended.
func (t tally) complete() bool { return t.Size > 0 && countBits(t.Ended) >= t.Size }

// countBits returns how many bits are set.
func countBits(b []byte) int {
	n := 0
	for _, v := range b {
		n += bits.OnesCount8(v)
	}
	return n
}

// setBit sets or clears a bit, and reports whether it was different.
func setBit(b *[]byte, i int, on bool) bool {
	for len(*b) <= i/8 {
		*b = append(*b, 0)
	}
	v, bit := &(*b)[i/8], byte(1)<<(i%8)
	if *v&bit != 0 == on {
		return false
	}
	*v ^= bit
	return true
}

// mark says that a task has ended.
type mark struct {
	index  int
	failed bool
}

// apply notes marks, and reports whether they change anything.
func (t *tally) apply(marks []mark) bool {
	changed := false
	for _, m := range marks {
		changed = setBit(&t.Ended, m.index, true) || changed
		changed = setBit(&t.Failed, m.index, m.failed) || changed
	}
	return changed
}

// tallies combine what a node has to note under the same key at the same time into one write.
// (Hendler, Incze, Shavit, Tzafrir, Flat Combining and the Synchronization-Parallelism Tradeoff, SPAA 2010.)
type tallies struct {
	mu   sync.Mutex
	keys map[string]*combining
}

// combining are the marks of a key.
type combining struct {
	users   int        // under tallies.mu; the last one forgets the key
	writing sync.Mutex // of the one that writes
	next    *round     // under tallies.mu
}

// round are the marks of one write.
type round struct {
	marks []mark
	done  bool // this and what follows is under combining.writing
	tally tally
	err   error
}

// note notes a mark under a key, and returns the tally with it. Of those that one write has noted, one is told that it
// has written. There has to be a tally of the key: else err says so, as isNotFound reports.
func (n *Node) note(kv jetstream.KeyValue, key string, m mark) (t tally, wrote bool, err error) {
	s := &n.tallies
	s.mu.Lock()
	c := s.keys[key]
	if c == nil {
		c = &combining{next: &round{}}
		s.keys[key] = c
	}
	c.users++
	r := c.next
	r.marks = append(r.marks, m)
	s.mu.Unlock()

	c.writing.Lock()
	if !r.done {
		s.mu.Lock()
		c.next = &round{}
		s.mu.Unlock()
		r.tally, r.err = n.changeTally(kv, key, func(t *tally) bool { return t.apply(r.marks) })
		r.done, wrote = true, true
	}
	c.writing.Unlock()

	s.mu.Lock()
	if c.users--; c.users == 0 {
		delete(s.keys, key)
	}
	s.mu.Unlock()
	return r.tally, wrote, r.err
}

// errUnreadable says that a note cannot be read: no node has written it, and it counts as none.
var errUnreadable = fmt.Errorf("cluster: a note that cannot be read: %w", jetstream.ErrKeyNotFound)

// changeTally changes a tally that is stored, if change reports that it is another.
func (n *Node) changeTally(kv jetstream.KeyValue, key string, change func(*tally) bool) (tally, error) {
	ctx, cancel := n.asking()
	defer cancel()
	for {
		var t tally
		value, revision, err := n.get(ctx, kv, key)
		if err != nil {
			return t, err
		}
		if json.Unmarshal(value, &t) != nil {
			return t, errUnreadable
		}
		if !change(&t) {
			return t, nil
		}
		if _, err = kv.Update(ctx, key, t.bytes(), revision); !isConflict(err) {
			return t, err
		}
	}
}

// asking returns the context of a call of the servers that is made also while the node closes.
func (n *Node) asking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(n.ctx), serverWait)
}

// bytes returns t as it is stored.
func (t tally) bytes() []byte {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // numbers and bytes only
	}
	return slices.Clip(data)
}
