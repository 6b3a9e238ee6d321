package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// submission is what the options of Submit come to.
type submission struct {
	version  string
	id       token
	key      token
	level    int
	within   time.Duration
	stored   string // the option for which the task is stored whatever else is said, or ""
	local    bool   // LocalFirst
	noResult bool
	leveled  bool
	delay    time.Duration
	at       time.Time

	unique    token
	uniqueFor time.Duration

	after []token // IDs
	batch *Batch
}

// newSubmission returns what options come to.
func newSubmission(opts []SubmitOption) (submission, error) {
	s := submission{level: Normal}
	for _, o := range opts {
		if o == nil {
			return s, errors.New("cluster: a nil SubmitOption")
		}
		if err := o(&s); err != nil {
			return s, err
		}
	}
	return s, s.check()
}

// check returns an error if options contradict each other.
func (s submission) check() error {
	if s.local && s.stored != "" {
		return fmt.Errorf("cluster: a task has both LocalFirst and %s, for which it is stored", s.stored)
	}
	if s.delay > 0 && !s.at.IsZero() {
		return errors.New("cluster: a task has both Delay and At")
	}
	if len(s.after) > 0 && (s.delay > 0 || !s.at.IsZero()) {
		return errors.New("cluster: a task has both After and a delay")
	}
	if s.batch != nil && s.id != "" {
		return errors.New("cluster: a task has both InBatch and ID")
	}
	if s.batch != nil && slices.Contains(s.after, s.batch.id) {
		return fmt.Errorf("%w: a member of the batch %s is After it", ErrCycle, s.batch.ID())
	}
	if len(s.after) > maxAfter {
		return fmt.Errorf("cluster: a task is after %d others; %d are allowed", len(s.after), maxAfter)
	}
	return nil
}

// SubmitOption says how one task is to be run. A value that makes no sense is an error of [Submit].
type SubmitOption func(*submission) error

// Durable stores the task. So does Submit without options: Durable is for tasks of a handler with [WithLocalFirst].
func Durable() SubmitOption {
	return func(s *submission) error { s.stored = "Durable"; return nil }
}

// LocalFirst runs the task in this node's pool, if the node has places and the handler, the handler has no limit, and
// fewer tasks are there than [WithThreshold] says; else the task is stored, as without LocalFirst. A task that runs here gives up
// durability, retries and dead letters: it is lost with the process, runs once, and its error is told to its Future alone, as the
// handler returned it. In exchange it costs a few microseconds instead of writes to the servers, and argument and result are
// passed on as they are. It has no ID; its context has the values of the submitter's and ends with it. [Within] ends its context, and
// its Future when the handler has returned. [Node.Cancel], [Node.Pause] and [WithSilence] do not know it; limits of the pool hold.
//
// LocalFirst is an error for a handler of this node with [WithRetry], and together with the options that store the task: [Durable],
// [ID], [Key], [AtLevel], [NoResult], [Delay], [At], [After], [Unique] and [InBatch]. [WithLocalFirst] says it for all tasks of a handler.
func LocalFirst() SubmitOption {
	return func(s *submission) error { s.local = true; return nil }
}

// ID names the task. A task whose ID was submitted within the last two minutes, or whose outcome is still stored, is
// not submitted again: the Future is that of the first.
//
// An ID is any text of printable characters, as [unicode.IsPrint] says, of 1 to 128 bytes, such as "order/4711" or
// "ann@example.com". Two are the same if they have the same bytes.
func ID(id string) SubmitOption {
	return func(s *submission) (err error) {
		s.stored = "ID"
		s.id, err = newToken("ID", id)
		return err
	}
}

// Key orders the task behind those of the same key that were submitted before. The handler needs [WithKeys]. A key is a
// text as that of [ID].
func Key(key string) SubmitOption {
	return func(s *submission) (err error) {
		s.stored = "Key"
		s.key, err = newToken("key", key)
		return err
	}
}

// AtLevel says how urgent the task is: [High], [Normal] or [Low]. Of tasks in the stream, those of a higher level are
// fetched first; each 60 times a lower one has its turn.
func AtLevel(level int) SubmitOption {
	return func(s *submission) error {
		s.level, s.leveled, s.stored = level, true, "AtLevel"
		if level < High || level > Low {
			return fmt.Errorf("cluster: AtLevel(%d): levels are High, Normal and Low", level)
		}
		return nil
	}
}

// Within ends the task with [ErrDeadline] if it has not ended after d, by the servers' clocks from the moment at which it is
// stored, or by the node's for one that runs by [LocalFirst]. Its Future ends then, a fifth of a second later at most if the servers answer, also
// if no node is there to run the task. A node without places sees up to 5 s later that a task of [After] does not wait any more. A node
// that gets the task later ends it, and does not run it.
func Within(d time.Duration) SubmitOption {
	return func(s *submission) error {
		s.within = d
		if d <= 0 {
			return fmt.Errorf("cluster: Within(%v)", d)
		}
		return nil
	}
}

// NoResult stores no outcome, which saves one of the two writes that a task costs the servers. Wait of its Future
// returns [ErrNoResult] at once. Failures are in the dead letters all the same.
func NoResult() SubmitOption {
	return func(s *submission) error { s.noResult, s.stored = true, "NoResult"; return nil }
}

// OfVersion submits the task to the handlers of a version. See [WithVersion].
func OfVersion(version string) SubmitOption {
	return func(s *submission) error {
		s.version = version
		return checkName("version of a handler", version)
	}
}
