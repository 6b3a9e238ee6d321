package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// stormAckWait is the AckWait of the handlers of the programs.
const stormAckWait = 2 * time.Second

const (
	stormLimit      = 3 // of the handler limited
	stormPartitions = 4 // of the handler keyed
)

// job is the argument of a task of a storm. Its result is twice N.
type job struct {
	Micros, N int
	Fails     int  // so many attempts fail; if it is less than 0, the first, and for good
	Child     bool // it submits another task, and waits for it
}

// leaving is the subject by which a worker is told to leave.
func leaving(name string) string { return "storm.leave." + name }

// workerProgram runs tasks until it is told to leave. It writes "ran" and what is known of a task before it runs it, and "ended"
// and how when it has.
func workerProgram(args []string) {
	places, _ := strconv.Atoi(args[2])
	n := nodeAt(args[0], args[1], cluster.WithPlaces(places), cluster.WithPool(filch.New(filch.WithWorkers(places))))
	many := cluster.WithRetry(cluster.Retry{Attempts: 1000, First: 50 * time.Millisecond, Most: 200 * time.Millisecond})
	for name, opts := range map[string][]cluster.HandlerOption{
		"job": {many}, "plain": nil, "limited": {many, cluster.WithLimit(stormLimit)}, "keyed": {many, cluster.WithKeys(stormPartitions)},
	} {
		cluster.Handle(n, name, func(ctx context.Context, j job) (int, error) { return runJob(ctx, n, j) }, append(opts, cluster.WithAckWait(stormAckWait))...)
	}
	fmt.Println("ready")
	told := make(chan *nats.Msg, 1)
	nc, err := nats.Connect(args[0], nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err == nil {
		_, err = nc.ChanSubscribe(leaving(args[1]), told)
	}
	if err != nil {
		fmt.Println("wrong", err)
	}
	<-told
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	fmt.Println("left", n.Close(ctx))
}

// How a run of a task ends.
const (
	endedWell  = "well"
	endedAgain = "again" // it is tried again
	endedBadly = "badly" // for good
)

// runJob runs a task. What it writes begins after the task was given to this node, and ends before the servers hear of the end.
func runJob(ctx context.Context, n *cluster.Node, j job) (int, error) {
	info, _ := cluster.TaskOf(ctx)
	how := endedAgain
	fmt.Println("ran", info.ID, info.Handler, info.Attempt, info.Stored.UnixNano(), time.Now().UnixNano())
	defer func() { fmt.Println("ended", info.ID, time.Now().UnixNano(), how) }()
	filch.Blocking(ctx, func() { time.Sleep(time.Duration(j.Micros) * time.Microsecond) })
	if j.Fails < 0 {
		how = endedBadly
		return 0, cluster.Permanent(errors.New("for good"))
	}
	if info.Attempt <= j.Fails {
		return 0, errors.New("not yet")
	}
	got := 2 * j.N
	if j.Child {
		f, err := cluster.Submit[job, int](ctx, n, "job", job{Micros: j.Micros, N: j.N}, cluster.ID(childOf(info.ID)))
		if err != nil {
			return 0, err
		}
		if got, err = f.Wait(ctx); err != nil {
			return 0, err
		}
	}
	how = endedWell
	return got, nil
}

func childOf(id string) string { return id + "-child" }

// client submits tasks of a storm, and writes what becomes of them.
type client struct {
	n    *cluster.Node
	name string
	out  io.Writer
}

// submitterProgram submits tasks of all kinds without end.
func submitterProgram(args []string) {
	c := &client{n: nodeAt(args[0], args[1], cluster.WithPlaces(0)), name: args[1], out: os.Stdout}
	fmt.Println("ready")
	for _, k := range kinds {
		for loop := range k.loops {
			go func() {
				for i := 0; ; i++ {
					k.submit(c, k.name, loop, i)
				}
			}()
		}
	}
	select {}
}

func (c *client) say(what ...any) { fmt.Fprintln(c.out, what...) }

// id returns an ID of a kind that no other task has.
func (c *client) id(kind string, loop, i int) string {
	return fmt.Sprintf("%s-%s-%d-%d", kind, c.name, loop, i)
}

// numberOf returns a number that is the same for the same ID.
func numberOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % 10000)
}

// How a task is to end, besides endedWell and endedBadly.
const (
	endsUnsaid = "unsaid" // well, and without an outcome
	endsUnrun  = "unrun"  // without a run, since what it depends on has failed
	endsEither = "either" // well, or canceled
)

// order is a task that is to be submitted.
type order struct {
	kind, handler string
	id            string // "" if it has none
	job           job
	ends          string // how
	more          string // a word for the judge
}

// store submits a task, again until the servers confirm it if its ID makes that safe. It writes "stored" and what it was.
func (c *client) store(o order, opts ...cluster.SubmitOption) *cluster.Future[int] {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second) // less than the IDs of messages are known
	defer cancel()
	if o.id != "" {
		opts = append(opts, cluster.ID(o.id))
		o.job.N = numberOf(o.id)
	}
	begin := time.Now()
	for {
		f, err := cluster.Submit[job, int](ctx, c.n, o.handler, o.job, opts...)
		if err == nil {
			c.say("stored", o.kind, f.ID(), o.job.N, begin.UnixNano(), o.ends, "."+o.more)
			return f
		}
		if unique, ok := errors.AsType[*cluster.NotUniqueError](err); ok {
			c.free(o, unique)
			return nil
		}
		unknown := errors.Is(err, cluster.ErrUnknownHandler) // the workers have just started
		if !unknown {
			c.say("refused", o.kind, o.id, err)
		}
		if o.id == "" || ctx.Err() != nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// free waits until a unique key is free. The process that has taken it may have died before its task was stored: then it is submitted here.
func (c *client) free(o order, taken *cluster.NotUniqueError) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	f, err := cluster.Attach[int](ctx, c.n, taken.ID)
	if err == nil {
		_, err = f.Wait(ctx)
	}
	if err != nil && ctx.Err() != nil && o.id != taken.ID {
		o.id = taken.ID
		c.wait(c.store(o, unique(taken.Key)), o)
	}
}

// wait waits for the end of a task that was submitted, and writes "told" and after what time in ms, or "wrong".
func (c *client) wait(f *cluster.Future[int], o order) {
	if f == nil {
		return
	}
	if o.id != "" {
		o.job.N = numberOf(o.id)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	begin := time.Now()
	got, err := f.Wait(ctx)
	_, failed := errors.AsType[*cluster.TaskError](err)
	switch {
	case o.ends == endedWell && err == nil && got == 2*o.job.N:
	case o.ends == endsUnsaid && errors.Is(err, cluster.ErrNoResult):
	case o.ends == endsEither && (errors.Is(err, cluster.ErrCanceled) || err == nil && got == 2*o.job.N):
	case o.ends == endedBadly && failed, o.ends == endsUnrun && failed:
	default:
		c.say("wrong", o.kind, f.ID(), got, err)
		return
	}
	c.say("told", time.Since(begin).Milliseconds(), f.ID())
}
