package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/filch-go/filch"
)

// submission is what the options of Submit come to.
type submission struct {
	version  string
	id       string
	key      string
	level    int
	within   time.Duration
	durable  bool
	noResult bool
	leveled  bool
	delay    time.Duration
	at       time.Time

	unique    string
	uniqueFor time.Duration

	after []string // IDs
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
	if s.delay > 0 && !s.at.IsZero() {
		return errors.New("cluster: a task has both Delay and At")
	}
	if len(s.after) > 0 && (s.delay > 0 || !s.at.IsZero()) {
		return errors.New("cluster: a task has both After and a delay")
	}
	if s.batch != nil && s.id != "" {
		return errors.New("cluster: a task has both InBatch and ID")
	}
	if len(s.after) > maxAfter {
		return fmt.Errorf("cluster: a task is after %d others; %d are allowed", len(s.after), maxAfter)
	}
	return nil
}

// SubmitOption says how one task is to be run. A value that makes no sense is an error of [Submit].
type SubmitOption func(*submission) error

// Durable puts the task into the stream, also if this node could run it. A task without is volatile: it may run in
// this node's pool, and is then lost with the process.
func Durable() SubmitOption {
	return func(s *submission) error { s.durable = true; return nil }
}

// ID names the task. A task whose ID was submitted within the last two minutes, or whose outcome is still stored, is
// not submitted again: the Future is that of the first. It implies [Durable].
func ID(id string) SubmitOption {
	return func(s *submission) error {
		s.id, s.durable = id, true
		return checkName("ID", id)
	}
}

// Key orders the task behind those of the same key that were submitted before. The handler needs [WithKeys]. It
// implies [Durable].
func Key(key string) SubmitOption {
	return func(s *submission) error {
		s.key, s.durable = key, true
		return checkName("key", key)
	}
}

// AtLevel says how urgent the task is: [High], [Normal] or [Low]. Of tasks in the stream, those of a higher level are
// fetched first; each 60 times a lower one has its turn. It implies [Durable].
func AtLevel(level int) SubmitOption {
	return func(s *submission) error {
		s.level, s.leveled, s.durable = level, true, true
		if level < High || level > Low {
			return fmt.Errorf("cluster: AtLevel(%d): levels are High, Normal and Low", level)
		}
		return nil
	}
}

// Within ends the task with [ErrDeadline] if it has not ended after d, by the servers' clocks from the moment at which
// it is stored, or by the node's for a local task.
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
// returns [ErrNoResult] at once. Failures are in the dead letters all the same. It implies [Durable].
func NoResult() SubmitOption {
	return func(s *submission) error { s.noResult, s.durable = true, true; return nil }
}

// OfVersion submits the task to the handlers of a version. See [WithVersion].
func OfVersion(version string) SubmitOption {
	return func(s *submission) error {
		s.version = version
		return checkName("version of a handler", version)
	}
}

// headerRoom is what the headers of a message may take of the largest payload.
const headerRoom = 16 << 10

// Submit submits a task to the handler of a name, with in as its argument.
//
// If this node has the handler and fewer tasks than [WithThreshold], the task runs in the node's pool: in and the
// result are passed on as they are, errors arrive as the handler returns them, nothing is tried again, and the task's
// context has the values of ctx and ends with it. Else, and with [Durable], the task is stored in the stream, and
// Submit returns when the servers have confirmed that. From then on the task runs at least once, whatever
// becomes of this process; ctx counts only for Submit.
//
// Submit waits for the servers, and with [filch.Block] for room in the stream, until ctx ends, but at most 30 s if
// ctx has no deadline. When an error says that the servers did not confirm, the task may be stored all the same.
// To be sure that it is there once, submit it again with the same [ID].
//
// Errors are [ErrUnknownHandler], [ErrTooLarge], [ErrQueueFull], [ErrClosed], those of the codec, of options, and of
// the servers. Submit panics if an argument is nil.
func Submit[In, Out any](ctx context.Context, n *Node, handler string, in In, opts ...SubmitOption) (*Future[Out], error) {
	if ctx == nil || n == nil {
		panic("cluster: Submit with a nil argument")
	}
	s, err := newSubmission(opts)
	if err != nil {
		return nil, err
	}
	if n.looking.Err() != nil {
		return nil, ErrClosed
	}
	if !s.durable {
		if f := tryLocal[In, Out](ctx, n, versioned(handler, s.version), in, s.within); f != nil {
			return &Future[Out]{n: n, local: f}, nil
		}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, submitWait)
		defer cancel()
	}
	t, subject, err := n.newTask(ctx, handler, in, s)
	if err != nil {
		return nil, err
	}
	r, err := n.submit(ctx, t, subject, s)
	if err != nil {
		return nil, err
	}
	return &Future[Out]{n: n, remote: r}, nil
}

// tryLocal runs a task here if this node has the handler, and room for it.
func tryLocal[In, Out any](ctx context.Context, n *Node, name string, in In, within time.Duration) *filch.Future[Out] {
	h := n.handler(name)
	if h == nil || h.limit > 0 || h.nodeLimit > 0 || n.config.places == 0 {
		return nil
	}
	f, ok := h.local.(func(context.Context, In) (Out, error))
	if !ok {
		return nil
	}
	if within > 0 {
		f = untilDeadline(f, n.now().Add(within))
	}
	return submitLocal(ctx, n, f, in)
}

// newTask returns a task of a handler, and its subject in the work stream.
func (n *Node) newTask(ctx context.Context, handler string, in any, s submission) (*task, string, error) {
	codec := n.codecs[0]
	data, err := codec.Marshal(in)
	if err != nil {
		return nil, "", fmt.Errorf("cluster: the argument %T cannot be written by the codec %s: %w", in, codec.Name(), err)
	}
	if err := checkName("name of the handler", handler); err != nil {
		return nil, "", err
	}
	if err := n.checkSize("argument", data); err != nil {
		return nil, err
	}
	name := versioned(handler, s.version)
	lane, err := n.laneFor(ctx, name, s)
	if err != nil {
		return nil, "", err
	}
	t := &task{id: s.id, handler: name, codec: n.codecs[0].Name(), by: n.node, key: s.key, time: s.within, data: data}
	if t.id == "" {
		t.id = nuid.Next()
	}
	if s.noResult {
		r := &remote{id: t.id, noResult: true, promise: filch.NewPromise[outcome](n.pool)}
		r.promise.Complete(outcome{}, ErrNoResult)
		_, err := n.publish(ctx, t.message(n.workOf(name, lane)))
		if err == nil {
			n.counts.submitted.Add(1)
		}
		return r, err
	}
	t.from = n.node
	if s.id != "" {
		var o outcome
		err := ask(ctx, func(ctx context.Context) (err error) { o, err = n.getOutcome(ctx, t.id); return err })
		if err == nil {
			r := &remote{id: t.id, promise: filch.NewPromise[outcome](n.pool)}
			r.promise.Complete(o, nil)
			return r, nil
		}
	}
	r, fresh := n.waiting.add(n, t.id)
	if err := n.store(ctx, t.message(subject), s); err != nil {
		if fresh {
			n.waiting.remove(r)
		}
		return nil, err
	}
	n.counts.submitted.Add(1)
	return r, nil
}

// store stores the message of a task, if its unique key is free.
func (n *Node) store(ctx context.Context, m *nats.Msg, s submission) error {
	s.setUnique(m)
	if err := askServers(ctx, func(ctx context.Context) error { return n.claimFor(ctx, m) }); err != nil {
		return err
	}
	id := header(m.Header, headerID)
	store := func() error { return n.storeMessage(ctx, m, s) }
	var err error
	if s.batch != nil {
		err = s.batch.add(ctx, m, store)
	} else {
		err = store()
	}
	if isRefused(err) {
		err = errors.Join(err, n.disclaim(s.unique, id))
	}
	return err
}

// storeMessage stores the message of a task where its options say.
func (n *Node) storeMessage(ctx context.Context, m *nats.Msg, s submission) error {
	if len(s.after) > 0 {
		return n.storeAfter(ctx, m, s.after)
	}
	if at, later := n.due(s); later {
		return n.storeLater(ctx, m, at)
	}
	_, err := n.publish(ctx, m)
	return err
}

// submitWait is how long Submit waits if its context has no deadline.
const submitWait = 30 * time.Second

// laneFor returns the lane of a task, or the reason why the handler does not take it.
func (n *Node) laneFor(ctx context.Context, name string, s submission) (string, error) {
	shape, err := n.shapeOf(ctx, name)
	switch {
	case err != nil:
		return "", err
	case s.key != "" && shape.partitions == 0:
		return "", fmt.Errorf("cluster: the handler %s takes no keys: it needs WithKeys", name)
	case s.key != "" && s.leveled:
		return "", errors.New("cluster: a task has both a key and a level")
	case s.key != "":
		f := fnv.New32a()
		f.Write([]byte(s.key))
		return laneOfPartition(int(f.Sum32() % uint32(shape.partitions))), nil
	case shape.limited && s.leveled:
		return "", fmt.Errorf("cluster: the handler %s has a limit, and so its tasks have no levels", name)
	}
	return lane, nil
}

// errInProcess is the servers' code for a message that they have, and do not yet know to be on most of them.
const errInProcess = 10158

// publish stores a message, and asks again as long as the servers do not answer.
func (n *Node) publish(ctx context.Context, m *nats.Msg) (*jetstream.PubAck, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		var ack *jetstream.PubAck
		err := ask(ctx, func(ctx context.Context) (err error) {
			if ack, err = n.js.PublishMsg(ctx, m); err != nil {
				err = n.explain(err, m.Subject)
			}
			return err
		})
		if err == nil {
			return ack, nil
		}
		full := isFull(err)
		if full && n.overflow == filch.Reject {
			return nil, ErrQueueFull
		}
		if api, ok := errors.AsType[*jetstream.APIError](err); ok && !full && api.Code < 500 && api.ErrorCode != errInProcess {
			return nil, fmt.Errorf("cluster: the task is not stored: %w", err)
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return nil, ErrClosed
		}
		if errors.Is(err, nats.ErrPermissionViolation) {
			return nil, fmt.Errorf("cluster: the task is not stored: %w", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			if full {
				return nil, fmt.Errorf("%w: %w", ErrQueueFull, context.Cause(ctx))
			}
			return nil, fmt.Errorf("cluster: the servers have not confirmed that they stored the task: %w", errors.Join(context.Cause(ctx), err))
		case <-n.ctx.Done():
			return nil, ErrClosed
		}
	}
}

// isRefused reports whether err says that the servers have not stored a message. Else they may have.
func isRefused(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, ErrQueueFull) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCycle) || ok && api.Code < 500 && !isInProcess(err)
}

// isFull reports whether err says that the stream has as much as it may have. The servers have the same code for whatever
// keeps them from storing a message, such as a full disk.
func isFull(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == 10077 && strings.HasPrefix(api.Description, "maximum ")
}

// Info is what a handler can know of its task.
type Info struct {
	ID      string
	Handler string
	Key     string
	From    string    // the node that has submitted it
	Attempt int       // from 1
	Stored  time.Time // by the servers' clock
}

// TaskOf returns what is known of the task of a handler's context. It returns false outside of a handler, and for a
// local task, which has no ID.
func TaskOf(ctx context.Context) (Info, bool) {
	e, _ := ctx.Value(executionKey{}).(*execution)
	if e == nil {
		return Info{}, false
	}
	name, _ := cutVersion(e.handler.name)
	return Info{ID: e.id, Handler: name, Key: e.key, From: e.by, Attempt: e.attempt, Stored: e.stored}, true
}
