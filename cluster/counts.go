package cluster

import "sync/atomic"

// counts are what a node has counted since it was opened.
type counts struct {
	submitted, local                                      atomic.Int64
	done, failed, dead, canceled, late, refused, returned atomic.Int64
	duplicates                                            atomic.Int64
}

// Stats are what a node has counted since it was opened, and what it does now. An end counts once it is stored: its outcome, or the dead
// letter of a task that has failed, unless another node has stored that. A task with [NoResult] leaves nothing by which a
// node sees that it has ended elsewhere: Duplicates has none of these, but those that came while they ran on the same node.
type Stats struct {
	Submitted  int64 `json:"submitted"`  // tasks that it has put into the stream
	Local      int64 `json:"local"`      // tasks that it has run or will run without the stream
	Done       int64 `json:"done"`       // fetched tasks whose handler returned a result
	Failed     int64 `json:"failed"`     // attempts that ended with an error or a panic
	Dead       int64 `json:"dead"`       // tasks that it has made dead letters, those included that depended on one that failed
	Canceled   int64 `json:"canceled"`   // fetched tasks that were canceled
	Late       int64 `json:"late"`       // fetched tasks whose time was over
	Refused    int64 `json:"refused"`    // messages that it could not read
	Returned   int64 `json:"returned"`   // tasks that it has given back
	Duplicates int64 `json:"duplicates"` // tasks that it got though they had ended, or ended though they had ended elsewhere
	Running    int   `json:"running"`    // fetched tasks that are not settled
	Waiting    int   `json:"waiting"`    // futures of tasks in the stream that are not done
}

// ended counts a task that has ended. One that has failed counts as its dead letter does, in putDead.
func (c *counts) ended(status string) {
	switch status {
	case statusDone:
		c.done.Add(1)
	case statusCanceled:
		c.canceled.Add(1)
	case statusDeadline:
		c.late.Add(1)
	}
}

// Stats returns what the node has counted.
func (n *Node) Stats() Stats {
	c := &n.counts
	return Stats{
		Submitted: c.submitted.Load(), Local: c.local.Load(), Done: c.done.Load(), Failed: c.failed.Load(), Dead: c.dead.Load(),
		Canceled: c.canceled.Load(), Late: c.late.Load(), Refused: c.refused.Load(), Returned: c.returned.Load(),
		Duplicates: c.duplicates.Load(), Running: n.running.len(), Waiting: n.waiting.len(),
	}
}
