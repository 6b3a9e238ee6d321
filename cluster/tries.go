package cluster

import (
	"context"
	"encoding/json"
)

// try is what is known of the attempts of a task that has not ended. The server counts how often it gave the task away;
// this says how many of these times were none, since the task was given back.
type try struct {
	Returned int    `json:"returned,omitempty"`
	Attempts int    `json:"attempts,omitempty"` // how often it was tried, as of the last error
	Error    string `json:"error,omitempty"`    // the last one
	Node     string `json:"node,omitempty"`     // where that was

	// Of a message in the stream, how often it had been given away when a node last took it and did not know how the time before has ended.
	Message   uint64 `json:"message,omitempty"`
	Delivered int    `json:"delivered,omitempty"`

	Final uint64 `json:"final,omitempty"` // the message in the stream of which Error is for good: no node runs it any more
}

// failed notes that the task of e has failed, and may not be tried again if that is for good.
func (t *try) failed(e *execution, reason string, forGood bool) {
	t.Attempts, t.Error, t.Node = e.attempt, short(reason), e.node.node
	if forGood {
		t.Final = e.sequence
	}
}

// outdates reports whether a node has taken the task of e since e got it: the servers did not hear of e in time. Then what becomes
// of the message is the newer attempt's to say, unless e has a result.
func (t *try) outdates(e *execution) bool {
	return t.Message == e.sequence && t.Delivered > e.delivered
}

// getTry returns what is known of the attempts of a task, as tryAt does.
func (n *Node) getTry(ctx context.Context, id token) (try, error) {
	t, _, err := n.tryAt(ctx, id)
	return t, err
}

// tryAt returns what is known of the attempts of a task, as of a revision. The server that answers may not know of the last
// times that the task was given back: then it seems to have had more attempts than it had.
func (n *Node) tryAt(ctx context.Context, id token) (t try, revision uint64, err error) {
	note, revision, err := n.read(ctx, n.tries, string(id)) // an older note than there is: the write that follows is refused
	if isNotFound(err) {
		return try{}, 0, nil
	}
	if err != nil {
		return try{}, 0, err
	}
	if json.Unmarshal(note, &t) != nil {
		t = try{} // nobody's note
	}
	return t, revision, nil
}

// noteTry changes what is known of the attempts of a task, and returns it. The note that is returned is the last one, as the
// write of it is a compare-and-swap. If the servers do not take it, the attempt counts.
func (n *Node) noteTry(id token, change func(*try)) (try, error) {
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
			return t, nil
		}
		if isConflict(err) && again(ctx) == nil {
			continue
		}
		n.log.Warn("filch cluster: an attempt is not noted", "node", n.node, "task", id, "error", err)
		return try{}, err
	}
}

// count sets which attempt this is, by a note.
func (e *execution) count(t try) { e.attempt = max(1, e.delivered-t.Returned) }

// spent reports whether the task has had all its attempts before this one.
func (e *execution) spent() bool { return e.attempt > e.handler.retry.Attempts }

// recount notes that e has its task, and is count with the last note, which a read may lack. Only by that a task is buried for its
// attempts.
func (e *execution) recount() (try, error) {
	t, err := e.noteTry(func(t *try) { t.Message, t.Delivered = e.sequence, e.delivered })
	if err == nil {
		e.count(t)
	}
	return t, err
}

// noteTry changes what is known of the attempts of the task, unless that outdates e.
func (e *execution) noteTry(change func(*try)) (try, error) {
	return e.node.noteTry(e.id, func(t *try) {
		if !t.outdates(e) {
			change(t)
		}
	})
}
