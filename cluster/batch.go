package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// headerBatch is the batch that a task belongs to, and its number there, as ID.NUMBER.
const headerBatch = "Filch-Batch"

const (
	// chunk is how many members of a batch share a tally. Another tally says which chunks are complete. So the end
	// of a member writes some 100 bytes, however many there are; with one tally for all it would write a bit for each,
	// and all nodes would compete for it.
	chunk = 256
	// maxBatch is how many members a batch can have: the tally of the chunks is 8 KiB then.
	maxBatch = 1 << 24
)

// Batch is some tasks of which one wants to know when all have ended. Make one with [NewBatch], submit its members with
// [InBatch], and Close it when all are submitted. A task of [After] the batch runs when all members have ended: its
// completion task.
//
// Members have ended when they have a result, and also when they have failed for good, were canceled, or their time was
// over; [BatchCounts] has how many. The methods may be called from any goroutine. The batch is filled by
// the process that has made it. If that ends before Close, the members run, and the batch never ends. The servers forget
// a batch that takes longer than dead letters are kept, see [WithDeadFor].
type Batch struct {
	n  *Node
	id token

	filling group       // members that are being submitted
	closed  atomic.Bool // set before Close waits for filling, and looked at after that has grown: one of the two sees the other

	turn chan struct{} // of capacity 1: held by the one that takes a number
	next int           // number of the next member; under turn, and not changed when the batch is closed and filling is none
	mu   sync.Mutex
	void []int // numbers of members that were not submitted; under mu
}

// BatchCounts is how far a batch is.
type BatchCounts struct {
	Total  int  // members that were submitted; 0 until the batch is closed
	Ended  int  // of these, how many have ended
	Failed int  // of these, how many without a result
	Closed bool // there will be no more
}

// batchRecord is a batch as it is stored, from when it is closed.
type batchRecord struct {
	From   string `json:"from"`
	Secret string `json:"secret,omitempty"` // of From
	Total  int    `json:"total"`            // with those that were not submitted
	Void   int    `json:"void,omitempty"`
}

// Errors of batches.
var (
	// ErrBatchClosed is returned by Submit for a task of [InBatch] if the batch was closed.
	ErrBatchClosed = errors.New("cluster: the batch is closed")
	// ErrUnknownBatch is returned for the ID of a batch of which the cluster knows nothing, or nothing any more.
	ErrUnknownBatch = errors.New("cluster: there is no batch of that ID")
)

// Keys of the bucket: of a batch, of the tally of its chunks, and of that of a chunk.
func keyBatch(id token) string        { return "batch." + string(id) }
func keyChunks(id token) string       { return "chunks." + string(id) }
func keyChunk(id token, k int) string { return fmt.Sprintf("chunk.%s.%d", string(id), k) }

// NewBatch makes a batch without members. With it, the node needs the permissions of a [Worker].
func NewBatch(ctx context.Context, n *Node) (*Batch, error) {
	if ctx == nil || n == nil {
		panic("cluster: NewBatch with a nil argument")
	}
	if n.looking.Err() != nil {
		return nil, ErrClosed
	}
	b := &Batch{n: n, id: encode(nuid.Next()), turn: make(chan struct{}, 1)}
	if err := n.createKey(ctx, n.batches, keyChunks(b.id), tally{}.bytes()); err != nil {
		return nil, err
	}
	return b, nil
}

// ID returns the ID of the batch. It is a [Dependency]; [Attach] with it returns a Future of [BatchCounts].
func (b *Batch) ID() string { return b.id.text() }

// InBatch makes the task a member of a batch. If Submit returns an error, it is none: it may run all the same if the
// servers did not confirm, and the batch does not wait for it. A batch has at most 16,777,216 members.
func InBatch(b *Batch) SubmitOption {
	return func(s *submission) error {
		s.batch, s.stored = b, "InBatch"
		if b == nil {
			return errors.New("cluster: InBatch with a nil Batch")
		}
		return nil
	}
}

// add stores the message of a new member.
func (b *Batch) add(ctx context.Context, m *nats.Msg, store func() error) error {
	b.filling.Add(1)
	defer b.filling.Done()
	if b.closed.Load() {
		return refused{ErrBatchClosed}
	}
	number, err := b.take(ctx)
	if err != nil {
		return refused{err}
	}
	m.Header[headerBatch] = []string{fmt.Sprintf("%s.%d", string(b.id), number)}
	err = store()
	if err != nil {
		b.mu.Lock()
		b.void = append(b.void, number)
		b.mu.Unlock()
	}
	return err
}

// take returns the number of a new member, whose chunk has a tally.
func (b *Batch) take(ctx context.Context) (int, error) {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if b.next == maxBatch {
		return 0, fmt.Errorf("cluster: the batch has %d members; it can have no more", b.next)
	}
	if b.next%chunk == 0 {
		if err := b.n.createKey(ctx, b.n.batches, keyChunk(b.id, b.next/chunk), tally{Size: chunk}.bytes()); err != nil {
			return 0, err
		}
	}
	b.next++
	return b.next - 1, nil
}

// Close says that the batch has all its members, and returns the Future of its end. It waits for calls of Submit that add
// members, and for the servers, until ctx ends: then it returns the cause. If it returns an error, no member can be added any
// more, and it can be called again.
func (b *Batch) Close(ctx context.Context) (*Future[BatchCounts], error) {
	if b.n.ctx.Err() != nil {
		return nil, ErrClosed
	}
	b.closed.Store(true)
	if err := b.filling.wait(ctx); err != nil {
		return nil, err
	}
	r := b.n.waiting.add(b.n, b.id)
	if err := orEnd(ctx, func() error { return b.close(ctx) }); err != nil {
		b.n.waiting.remove(r)
		return nil, err
	}
	return &Future[BatchCounts]{n: b.n, remote: r}, nil
}

// close stores that the batch has all its members. It may be called twice, also at the same time.
func (b *Batch) close(ctx context.Context) error {
	n := b.n
	b.mu.Lock()
	void := b.void
	b.mu.Unlock()
	for _, number := range void {
		if err := n.endedInBatch(b.id, number, false); err != nil {
			return err
		}
	}
	record, err := json.Marshal(batchRecord{From: n.node, Secret: n.secret, Total: b.next, Void: len(void)})
	if err != nil {
		return err
	}
	if _, err := n.batches.Put(ctx, keyBatch(b.id), record); err != nil {
		return err
	}
	return n.closeChunks(b.id, b.next)
}

// Counts returns how far the batch is. See [Node.BatchCounts].
func (b *Batch) Counts(ctx context.Context) (BatchCounts, error) { return b.n.BatchCounts(ctx, b.ID()) }

// closeChunks sets how many members the last chunk has, and how many chunks there are. If all have ended by then, the
// batch has; else the last member that ends sees the numbers.
func (n *Node) closeChunks(id token, total int) error {
	chunks := (total + chunk - 1) / chunk
	if chunks == 0 {
		return n.endBatch(id)
	}
	last, err := n.changeTally(n.batches, keyChunk(id, chunks-1), func(t *tally) bool {
		size := total - (chunks-1)*chunk
		changed := t.Size != size
		t.Size = size
		return changed
	})
	if err != nil {
		return err
	}
	all, err := n.changeTally(n.batches, keyChunks(id), func(t *tally) bool {
		changed := t.Size != chunks
		t.Size = chunks
		return last.complete() && t.apply([]mark{{index: chunks - 1}}) || changed
	})
	if err != nil || !all.complete() {
		return err
	}
	return n.endBatch(id)
}

// endedInBatch notes that a member of a batch has ended, and ends the batch if it was the last. Of a batch that is no
// longer stored, or cannot be read, it notes nothing.
func (n *Node) endedInBatch(id token, number int, failed bool) error {
	t, wrote, err := n.note(n.batches, keyChunk(id, number/chunk), mark{number % chunk, failed})
	if isNotFound(err) {
		return nil
	}
	if err != nil || !wrote || !t.complete() {
		return err
	}
	t, wrote, err = n.note(n.batches, keyChunks(id), mark{index: number / chunk})
	if isNotFound(err) {
		return nil
	}
	if err != nil || !wrote || !t.complete() {
		return err
	}
	if err := n.endBatch(id); !isNotFound(err) {
		return err
	}
	return nil
}

// endBatch stores the outcome of a batch, settles what waits for it, and tells the node that has closed it.
func (n *Node) endBatch(id token) error {
	ctx, cancel := n.asking()
	defer cancel()
	counts, closer, err := n.countBatch(ctx, id)
	for err == nil && counts.Closed && counts.Ended < counts.Total { // all have ended: what was read is older
		if err = again(ctx); err == nil {
			counts, closer, err = n.countBatch(ctx, id)
		}
	}
	if err != nil {
		return err
	}
	data, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	o, err := n.putOutcome(id, outcome{Status: statusDone, Node: n.node, Codec: JSON().Name(), data: data})
	if err != nil {
		return err
	}
	if err := n.settleWaiting(id, o); err != nil {
		return err
	}
	n.tellOutcome(closer, id, o, nil)
	return nil
}

// BatchCounts returns how far the batch of an ID is. It reads one value of the servers for each 256 members.
func (n *Node) BatchCounts(ctx context.Context, id string) (BatchCounts, error) {
	t, err := newToken("ID of the batch", id)
	if err != nil {
		return BatchCounts{}, err
	}
	if n.ctx.Err() != nil {
		return BatchCounts{}, ErrClosed
	}
	counts, _, err := n.countBatch(ctx, t)
	if isNotFound(err) {
		return counts, fmt.Errorf("%w: %s", ErrUnknownBatch, id)
	}
	return counts, err
}

// countBatch returns how far a batch is, and the node that has closed it.
func (n *Node) countBatch(ctx context.Context, id token) (c BatchCounts, closer asker, err error) {
	var chunks tally
	if err := n.readJSON(ctx, keyChunks(id), &chunks); err != nil {
		return c, closer, err
	}
	var r batchRecord
	if err := n.readJSON(ctx, keyBatch(id), &r); err == nil {
		c = BatchCounts{Total: r.Total - r.Void, Ended: -r.Void, Closed: true}
	} else if !isNotFound(err) {
		return c, closer, err
	}
	for k := 0; !c.Closed || k*chunk < r.Total; k++ {
		var t tally
		err := n.readJSON(ctx, keyChunk(id, k), &t)
		if isNotFound(err) && !c.Closed {
			break
		}
		if err != nil {
			return c, closer, err
		}
		c.Ended += countBits(t.Ended)
		c.Failed += countBits(t.Failed)
	}
	return c, asker{r.From, r.Secret}, nil
}

// readJSON reads a value of the bucket of batches.
func (n *Node) readJSON(ctx context.Context, key string, v any) error {
	value, _, err := n.get(ctx, n.batches, key)
	if err != nil {
		return err
	}
	if json.Unmarshal(value, v) != nil {
		return errUnreadable
	}
	return nil
}

// parseBatch reads the header of a member.
func parseBatch(text string) (id token, number int, err error) {
	if text == "" {
		return "", 0, nil
	}
	stored, digits, _ := strings.Cut(text, ".")
	if id, err = parseToken("batch", stored); err != nil {
		return "", 0, err
	}
	if number, err = strconv.Atoi(digits); err != nil || number < 0 || number >= maxBatch {
		return "", 0, fmt.Errorf("the message has the number %q in its batch", digits)
	}
	return id, number, nil
}
