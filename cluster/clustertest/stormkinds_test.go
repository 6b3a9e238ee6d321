package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/filch-go/filch/cluster"
)

// kind is a way to submit tasks, and what is promised of them beyond what is promised of all: see [storm.judge].
type kind struct {
	name   string
	loops  int // of each submitter
	submit func(c *client, kind string, loop, i int)
	judge  func(r *record, acks []ack) // nil if there is nothing more
}

// kinds are all that a storm has.
var kinds = []kind{
	{"job", 3, submitPlain("job"), nil},
	{"plain", 3, submitPlain("plain"), nil},
	{"again", 2, submitAgain, nil},
	{"unique", 3, submitUnique, (*record).judgeUnique},
	{"unsaid", 1, submitUnsaid, nil},
	{"delay", 4, submitDelayed, (*record).judgeDelay},
	{"dag", 2, submitDAG, (*record).judgeDAG},
	{"member", 0, nil, nil},
	{"batch", 1, submitBatch, (*record).judgeBatch},
	{"key", 4, submitKeyed, (*record).judgeKeys},
	{"limit", 3, submitLimited, (*record).judgeLimit},
	{"level", 3, submitLeveled, nil},
	{"fails", 1, submitFailing, nil},
	{"child", 2, submitParent, (*record).judgeChildren},
	{"mixed", 3, submitMixed, (*record).judgeUnique},
	{"cancel", 2, submitCanceled, nil},
}

// micros returns how long the i-th task of a loop takes.
func micros(i int) int { return i * 7919 % 5000 }

// one submits a task and waits for it.
func (c *client) one(o order, opts ...cluster.SubmitOption) { c.wait(c.store(o, opts...), o) }

// submitPlain submits durable tasks to a handler, every second one by an ID.
func submitPlain(handler string) func(*client, string, int, int) {
	return func(c *client, kind string, loop, i int) {
		o := order{kind: kind, handler: handler, job: job{Micros: micros(i), N: i}, ends: endedWell}
		if i%2 == 0 {
			o.id = c.id(kind, loop, i)
		}
		if i%16 == 1 {
			o.job.Fails = 1
		}
		c.one(o)
	}
}

// submitAgain submits a task by an ID that the other submitters use as well, at about the same time.
func submitAgain(c *client, kind string, loop, i int) {
	const every = 20 * time.Millisecond
	at := time.Now().Truncate(every).Add(every)
	time.Sleep(time.Until(at))
	c.one(order{kind: kind, handler: "job", id: fmt.Sprint(kind, "-", at.UnixNano()/int64(every)), job: job{Micros: micros(i)}, ends: endedWell})
}

// uniqueKeys is for how many keys the submitters compete.
const uniqueKeys = 4

func unique(key string) cluster.SubmitOption { return cluster.Unique(key, time.Hour) }

func submitUnique(c *client, kind string, loop, i int) {
	key := fmt.Sprint(kind, rand.IntN(uniqueKeys))
	c.one(order{kind: kind, handler: "job", id: c.id(key, loop, i), job: job{Micros: micros(i)}, ends: endedWell}, unique(key))
}

// submitMixed submits tasks of unique keys that are delayed, after others, or of levels.
func submitMixed(c *client, kind string, loop, i int) {
	key := fmt.Sprint(kind, rand.IntN(uniqueKeys))
	o := order{kind: kind, handler: "job", id: c.id(key, loop, i), job: job{Micros: micros(i)}, ends: endedWell}
	more := cluster.AtLevel(i / 3 % 3)
	switch i % 3 {
	case 1:
		more = cluster.Delay(time.Duration(rand.IntN(300)+1) * time.Millisecond)
	case 2:
		dep := order{kind: "plain", handler: "plain", id: o.id + "-dep", job: job{Micros: micros(i)}, ends: endedWell}
		if c.store(dep) == nil {
			return
		}
		more = cluster.After(cluster.TaskID(dep.id))
	}
	c.one(o, unique(key), more)
}

// submitCanceled submits tasks with unique keys of their own that are canceled soon: while they are delayed, wait for another,
// are queued or run.
func submitCanceled(c *client, kind string, loop, i int) {
	o := order{kind: kind, handler: "job", id: c.id(kind, loop, i), job: job{Micros: 4 * micros(i)}, ends: endsEither}
	more := cluster.AtLevel(cluster.Low)
	switch i % 3 {
	case 1:
		more = cluster.Delay(time.Duration(rand.IntN(100)+1) * time.Millisecond)
	case 2:
		more = cluster.After(cluster.TaskID(o.id + "-never"))
	}
	c.say("cancel", o.id)
	f := c.store(o, unique(o.id), more)
	time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	c.cancel(o.id)
	c.wait(f, o)
}

// cancel cancels a task, in the end, unless nobody knows it: its process has died before it was stored.
func (c *client) cancel(id string) {
	for {
		switch err := c.n.Cancel(context.Background(), id); {
		case err == nil:
			c.say("canceled", id)
			return
		case errors.Is(err, cluster.ErrUnknownTask):
			c.say("unknown", id)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// submitUnsaid submits tasks without results, which nobody waits for.
func submitUnsaid(c *client, kind string, _, i int) {
	time.Sleep(20 * time.Millisecond)
	c.one(order{kind: kind, handler: "job", job: job{Micros: micros(i), N: i}, ends: endsUnsaid}, cluster.NoResult())
}

func submitDelayed(c *client, kind string, loop, i int) {
	delay := time.Duration(rand.IntN(2000)+1) * time.Millisecond
	o := order{kind: kind, handler: "job", job: job{Micros: micros(i), N: i}, ends: endedWell, more: fmt.Sprint(int64(delay))}
	if i%2 == 0 {
		o.id = c.id(kind, loop, i)
	}
	c.one(o, cluster.Delay(delay))
}

// dagNodes are the tasks of a graph, and what each is after.
var dagNodes = []struct{ name, after string }{{"a", ""}, {"b", "a"}, {"c", "a"}, {"d", "bc"}, {"e", "d"}}

// submitDAG submits a graph, in any order. In some, one task fails for good.
func submitDAG(c *client, kind string, loop, i int) {
	base := c.id(kind, loop, i)
	c.say("dag", base)
	c.dag(kind, base)
}

// dag submits the tasks of a graph. What depends on each is said by its ID, so another may do it again.
func (c *client) dag(kind, base string) {
	fails := numberOf(base)%5 == 0
	var last *cluster.Future[int]
	var lastOrder order
	for _, k := range rand.Perm(len(dagNodes)) {
		node := dagNodes[k]
		o := order{kind: kind, handler: "job", id: base + node.name, job: job{Micros: micros(k)}, ends: endedWell, more: "."}
		var deps []cluster.Dependency
		for _, d := range node.after {
			deps = append(deps, cluster.TaskID(base+string(d)))
			o.more += string(d)
		}
		switch {
		case fails && node.name == "b":
			o.job.Fails, o.ends = -1, endedBadly
		case fails && node.name > "c":
			o.ends = endsUnrun
		}
		f := c.store(o, cluster.After(deps...))
		if f == nil {
			return
		}
		if node.name == "e" {
			last, lastOrder = f, o
		}
	}
	c.wait(last, lastOrder)
}

// submitBatch submits the members of a batch, and its completion before the batch is closed.
func submitBatch(c *client, kind string, loop, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b, err := cluster.NewBatch(ctx, c.n)
	if err != nil {
		c.say("refused", kind, err)
		return
	}
	completion := order{kind: kind, handler: "job", id: c.id(kind, loop, i), ends: endedWell, more: b.ID()}
	f := c.store(completion, cluster.After(b))
	members, failing := 0, 0
	for k := range 20 {
		o := order{kind: "member", handler: "job", job: job{Micros: micros(i + k), N: k}, ends: endedWell, more: b.ID()}
		if k == 7 {
			o.job.Fails, o.ends = -1, endedBadly
		}
		if c.store(o, cluster.InBatch(b)) != nil {
			members++
			failing += -o.job.Fails
		}
	}
	var closed *cluster.Future[cluster.BatchCounts]
	for closed == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if closed, err = b.Close(ctx); err != nil {
			c.say("refused", kind, err)
		}
		cancel()
	}
	c.say("closed", b.ID())
	if counts, err := closed.Wait(context.Background()); err != nil || counts != (cluster.BatchCounts{Total: members, Ended: members, Failed: failing, Closed: true}) {
		c.say("wrong", kind, b.ID(), members, failing, counts, err)
	}
	c.wait(f, completion)
}

// submitKeyed submits tasks of a key, one after the other.
func submitKeyed(c *client, kind string, loop, i int) {
	key := fmt.Sprintf("%s-%d", c.name, loop)
	o := order{kind: kind, handler: "keyed", id: c.id(kind, loop, i), job: job{Micros: micros(i)}, ends: endedWell, more: fmt.Sprintf("%s:%d", key, i)}
	if i%8 == 1 {
		o.job.Fails = 1
	}
	f := c.store(o, cluster.Key(key))
	if i%4 == 0 { // some wait beside one another
		c.wait(f, o)
	}
}

func submitLimited(c *client, kind string, loop, i int) {
	o := order{kind: kind, handler: "limited", id: c.id(kind, loop, i), job: job{Micros: 2 * micros(i)}, ends: endedWell}
	if i%8 == 1 {
		o.job.Fails = 1
	}
	c.one(o)
}

func submitLeveled(c *client, kind string, loop, i int) {
	level := (loop + i) % 3
	c.one(order{kind: kind, handler: "job", id: c.id(kind, loop, i), job: job{Micros: micros(i)}, ends: endedWell, more: fmt.Sprint(level)}, cluster.AtLevel(level))
}

func submitFailing(c *client, kind string, _, i int) {
	time.Sleep(50 * time.Millisecond)
	c.one(order{kind: kind, handler: "job", job: job{Micros: micros(i), Fails: -1, N: i}, ends: endedBadly})
}

// submitParent submits a task that submits another one, and waits for it.
func submitParent(c *client, kind string, loop, i int) {
	c.one(order{kind: kind, handler: "job", id: c.id(kind, loop, i), job: job{Micros: micros(i), Child: true}, ends: endedWell})
}
