package cluster

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"
)

// try is what is known of the attempts of a task that has not ended. The server counts how often it gave the task away;
// this says how many of these times were none, since the task was given back.
type try struct {
	Returned int    `json:"returned,omitempty"`
	Attempts int    `json:"attempts,omitempty"` // how often it was tried, as of the last error
	Error    string `json:"error,omitempty"`    // the last one
	Node     string `json:"node,omitempty"`     // where that was
}

// getTry returns what is known of the attempts of a task.
func (n *Node) getTry(ctx context.Context, id token) (try, error) {
	t, _, err := n.tryAt(ctx, id)
	return t, err
}

func (n *Node) tryAt(ctx context.Context, id token) (t try, revision uint64, err error) {
	entry, err := n.tries.Get(ctx, string(id))
	if isNotFound(err) {
		return try{}, 0, nil
	}
	if err != nil {
		return try{}, 0, err
	}
	if json.Unmarshal(entry.Value(), &t) != nil {
		t = try{} // nobody's note
	}
	return t, entry.Revision(), nil
}

// triesAgain is how long a node waits at most when another has changed a note, or the server that it has asked did not have the last
// change yet.
const triesAgain = 20 * time.Millisecond

// noteTry changes what is known of the attempts of a task. If the servers do not take it, the attempt counts.
func (n *Node) noteTry(id token, change func(*try)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), serverWait)
	defer cancel()
	for {
		t, revision, err := n.tryAt(ctx, id)
		if err == nil {
			change(&t)
			data, _ := json.Marshal(t)
			if revision == 0 { // Update would take a note that was removed for one that another has just written
				_, err = n.tries.Create(ctx, string(id), data)
			} else {
				_, err = n.tries.Update(ctx, string(id), data, revision)
			}
		}
		if err == nil {
			return
		}
		if isConflict(err) && ctx.Err() == nil {
			time.Sleep(rand.N(triesAgain))
			continue
		}
		n.log.Warn("filch cluster: an attempt is not noted", "node", n.node, "task", id, "error", err)
		return
	}
}
