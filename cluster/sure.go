package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// never is a revision that no key ever has.
const never = "1000000000000000000"

// staleAgain is how long a node waits at most before it asks again, when the server that it has asked did not have the last change yet.
const staleAgain = 20 * time.Millisecond

// get returns the value of a key and its revision. Any server that has the bucket may answer, and one that is behind answers with an older
// value. That there is none is sure.
func (n *Node) get(ctx context.Context, kv jetstream.KeyValue, key string) (value []byte, revision uint64, err error) {
	value, revision, err = n.read(ctx, kv, key)
	if isNotFound(err) {
		return n.surely(ctx, kv, key)
	}
	return value, revision, err
}

// surely returns the value of a key and its revision as the leader of its bucket has them, and an error that isNotFound reports if there is none. It
// asks the leader for the revision, and any server for the value until that is of this revision. README.md says where it is needed.
func (n *Node) surely(ctx context.Context, kv jetstream.KeyValue, key string) (value []byte, revision uint64, err error) {
	for {
		last, err := n.lastRevision(ctx, keyOf(kv.Bucket(), key))
		if err == nil && last == 0 {
			return nil, 0, jetstream.ErrKeyNotFound
		}
		if err == nil {
			value, revision, err = n.read(ctx, kv, key)
			if revision == last {
				return value, revision, err
			}
		}
		if err != nil && !isConflict(err) && !isNotFound(err) {
			return nil, 0, err
		}
		if err := again(ctx); err != nil {
			return nil, 0, err
		}
	}
}

// again waits before the servers are asked again.
func again(ctx context.Context) error {
	select {
	case <-time.After(rand.N(staleAgain)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lastRevision returns the revision of the last change of a key, or 0, as the leader of its bucket has it: it refuses a write
// that expects another, and says so. The error is a conflict while the key is being changed.
func (n *Node) lastRevision(ctx context.Context, subject string) (revision uint64, err error) {
	_, err = n.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Header: nats.Header{jetstream.ExpectedLastSubjSeqHeader: {never}}})
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok || api.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence {
		return 0, err
	}
	if _, bad := fmt.Sscanf(api.Description, "wrong last sequence: %d", &revision); bad != nil {
		return 0, fmt.Errorf("cluster: the servers do not say which revision a key has: %s", api.Description)
	}
	return revision, nil
}
