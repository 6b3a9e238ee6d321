package sim

import "github.com/filch-go/filch/internal/sim/dag"

// mailbox is locality-guided work stealing: child stealing in which a thread may have an affinity for a worker.
// A spawned thread lies in the spawner's deque, and also in the mailbox of the worker that it has an affinity
// for, first in, first out. A worker without work looks into its mailbox before it tries to steal. The copy
// that is found first counts; the other is dropped when it is found.
//
// After Acar, Blelloch and Blumofe, "The data locality of work stealing" (SPAA 2000; Theory of Computing
// Systems, 2002). There a program says what its threads have an affinity for: the worker that ran the same part
// of the round before. Here that is the worker that last took a thread of the same spot; see spotOf. An
// affinity for the spawner itself needs no second copy. Mail takes as long as a message to that worker, and
// holds up the mail behind it.
type mailbox struct {
	raids
	tickets []ticket // the deques and the mailboxes have their numbers, from 1 on, in place of those of threads
	unused  []ID
	mail    []deque
	first   dag.Thread     // that spotOf looks at, here since a Program would make it escape
	last    map[spot]int32 // the worker that the last thread of a spot went to
}

// A ticket is a thread that waits in a deque, and perhaps in a mailbox too.
type ticket struct {
	thread  ID // None once the thread has been taken
	copies  int8
	spot    spot
	arrives int64 // in the mailbox
}

// A spot is where in memory a thread begins, and so many spawns below the thread. The zero spot is none.
type spot struct {
	block uint64
	depth int32 // plus 1
}

func newMailbox(m *machine) (scheduler, error) {
	return &mailbox{
		raids: newRaids(m), tickets: make([]ticket, 1), mail: make([]deque, m.Workers), last: make(map[spot]int32),
	}, nil
}

func (s *mailbox) enabled(w int32, cont, child ID) ID {
	if child != None {
		s.post(w, child)
	}
	if cont != None {
		return cont
	}
	for n := s.deques[w].pop(); n != None; n = s.deques[w].pop() {
		if id := s.claim(n, w); id != None {
			return id
		}
	}
	return s.open(w)
}

// post puts a thread into the deque of w, and into the mailbox of the worker that it has an affinity for.
func (s *mailbox) post(w int32, id ID) {
	n := ID(len(s.tickets))
	if last := len(s.unused) - 1; last >= 0 {
		n, s.unused = s.unused[last], s.unused[:last]
	} else {
		s.tickets = append(s.tickets, ticket{})
	}
	t := &s.tickets[n]
	*t = ticket{thread: id, copies: 1, spot: s.spotOf(&s.threads[id].Thread)}
	s.push(w, n)
	if v, ok := s.last[t.spot]; ok && v != w {
		t.copies++
		t.arrives = s.wheel.Now + s.far.latency(w, v)
		s.sweep(v)
		s.mail[v].push(n)
	}
}

// spotOf returns the spot of a thread that has been spawned: the first block that it would touch if each
// spawned thread ran at once.
func (s *mailbox) spotOf(t *dag.Thread) spot {
	if s.facts.Touched == 0 {
		return spot{}
	}
	s.first = *t
	depth := int32(1)
	for range mostSpotNodes {
		s.node = dag.Node{}
		s.Program.Node(&s.first, &s.node)
		switch {
		case s.node.Blocks > 0:
			return spot{s.node.Block, depth}
		case s.node.Last:
			return spot{}
		case s.node.Spawns:
			s.first = dag.Thread{Args: s.node.Child}
			depth++
		default:
			s.first.PC++
		}
	}
	return spot{}
}

// mostSpotNodes is how many nodes are looked at to find the spot of a thread.
const mostSpotNodes = 64

// open returns the oldest thread in the mailbox of w, or None.
func (s *mailbox) open(w int32) ID {
	s.sweep(w)
	mail := &s.mail[w]
	if mail.size == 0 || s.tickets[mail.oldest()].arrives > s.wheel.Now {
		return None
	}
	return s.claim(mail.steal(), w)
}

// claim drops a copy, and returns its thread for w unless the other copy was taken before.
func (s *mailbox) claim(n ID, w int32) ID {
	t := &s.tickets[n]
	id := t.thread
	t.thread = None
	if t.copies--; t.copies == 0 {
		s.unused = append(s.unused, n)
	}
	if id != None && t.spot != (spot{}) {
		s.last[t.spot] = w
	}
	return id
}

// sweep drops the oldest mail of w as long as its threads have been taken.
func (s *mailbox) sweep(w int32) {
	mail := &s.mail[w]
	for mail.size > 0 && s.tickets[mail.oldest()].thread == None {
		s.claim(mail.steal(), w)
	}
}

func (s *mailbox) seek(w int32) (ID, int64) {
	if !s.waits(w) {
		if id := s.open(w); id != None {
			return id, 0
		}
	}
	return s.look(w, s)
}

func (s *mailbox) victim(w int32) int32 { return s.other(w) }

func (s *mailbox) take(w, v int32) ID {
	for n := s.deques[v].steal(); n != None; n = s.deques[v].steal() {
		if id := s.claim(n, w); id != None {
			return id
		}
	}
	return None
}

// nth returns None where a deque has a copy whose thread has been taken from a mailbox.
func (s *mailbox) nth(w int32, i int) ID { return s.tickets[s.deques[w].at(i)].thread }
