package sim

// A scheduler decides which worker runs which ready thread. It keeps the ready threads that do not run.
type scheduler interface {
	// enabled is called when a node of a thread has ended on w. cont and child, if they are not None, are
	// ready since then: cont is the thread itself, or, if it has ended, the one that waited for it; child is what it
	// has spawned. enabled returns what w goes on with, or None.
	enabled(w int32, cont, child ID) ID
	// seek is called when w has nothing to do: one attempt to find a ready thread. w begins it, or looks again,
	// after so many steps, at least 1 if it found none. Never stands for: when wake is called for it.
	seek(w int32) (found ID, after int64)
}

// Never is what seek returns for a worker that does not look again by itself.
const Never = 1<<63 - 1

// schedulers are all there are, in the order in which they are shown.
var schedulers = []struct {
	name  string
	about string
	make  func(m *machine) (scheduler, error)
}{
	{"pool", "the forks of filch: private until asked for, and the policies of its pool", newPool},
	{"child", "child stealing: a spawned thread waits, its parent goes on", newChild},
	{"continuation", "continuation stealing: a spawned thread runs, its parent waits to be stolen", newContinuation},
	{"sharing", "work sharing: a spawned thread is sent to a random worker", newSharing},
	{"central", "one queue for all, first in, first out", newCentral},
	{"pdf", "parallel depth-first: always what is leftmost in the serial order", newDepthFirst},
	{"localized", "child stealing, but a worker first steals back from those that stole from it", newLocalized},
	{"mailbox", "child stealing, but a worker first takes threads whose memory it has used before", newMailbox},
	{"half", "child stealing of half of a deque", newHalf},
	{"ordered", "queues by priority, of which a thief takes half of the best", newOrdered},
	{"hierarchical", "child stealing: in the own group first, then half of a deque of another", newHierarchical},
	{"abp", "continuation stealing by thieves that yield before each attempt", newABP},
	{"bws", "balanced work stealing: thieves hand over their processors, and sleep", newBWS},
}

// distant are the schedulers that may have latencies. The thieves of most send requests; see raids.
var distant = []string{"pool", "child", "continuation", "localized", "mailbox", "half", "ordered", "hierarchical"}

// Schedulers returns the names of all schedulers, in the order in which they are shown.
func Schedulers() []string {
	var names []string
	for _, s := range schedulers {
		names = append(names, s.name)
	}
	return names
}

// schedule makes the scheduler that the configuration names.
func (m *machine) schedule() (err error) {
	if m.instead != nil {
		m.sched = m.instead(m)
		return nil
	}
	for _, s := range schedulers {
		if s.name == m.Scheduler {
			m.sched, err = s.make(m)
			return err
		}
	}
	panic("sim: " + m.Scheduler + " has passed Check")
}

// About says in a line what the scheduler of that name does.
func About(name string) string {
	for _, s := range schedulers {
		if s.name == name {
			return s.about
		}
	}
	return ""
}
