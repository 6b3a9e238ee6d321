package clustertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/poll"
)

// deaths is at how many places in a row a node dies. In the long form it dies before each thing it tells the servers.
func deaths() int {
	if os.Getenv("FILCH_LONG") != "" {
		return 60
	}
	return 10
}

// write reports whether a publication changes something. Requests for tasks, and questions, do not.
func write(subject string) bool {
	for _, p := range []string{"$KV.", "$JS.ACK.", "$JS.API.STREAM.PURGE.", "$JS.API.STREAM.MSG.DELETE.", "mortal"} {
		if strings.HasPrefix(subject, p) {
			return true
		}
	}
	return false
}

// mortal is a cluster with a node that dies, one that submits, and one that takes over.
type mortal struct {
	name   string
	conn   *dying
	js     jetstream.JetStream
	submit *cluster.Node
	open   func(c *dying) *cluster.Node
}

// together is how many of these programs run at the same time.
const together = 10

// eachDeath runs a program against a node that dies before its k-th write, for each k. Nothing may be left afterwards.
func eachDeath(t *testing.T, program func(t *testing.T, m mortal, k int)) {
	srv := inProcess(t)
	var all sync.WaitGroup
	var deathless atomic.Int64
	places := make(chan struct{}, together)
	for k := range deaths() {
		all.Go(func() {
			var m mortal
			func() {
				places <- struct{}{}
				defer func() { <-places }()
				m = newMortal(t, srv, k)
				program(t, m, k)
			}()
			if !m.conn.died() {
				deathless.Add(1)
			}
			m.empty(t, k)
		})
	}
	all.Wait()
	t.Log("of", deaths(), "nodes survived", deathless.Load())
}

// newMortal opens the nodes but the one that takes over.
func newMortal(t *testing.T, srv *server.Server, k int) mortal {
	m := mortal{name: fmt.Sprint("mortal", k), conn: &dying{counts: write}}
	m.open = func(c *dying) *cluster.Node {
		n, err := cluster.Open(t.Context(), cluster.WithName(m.name), cluster.WithConn(connectMortal(t, srv, c)), cluster.WithPlaces(2), cluster.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Error("cluster.Open:", err)
			runtime.Goexit()
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = n.Close(ctx)
		})
		return n
	}
	m.submit = m.open(nil)
	var err error
	if m.js, err = jetstream.New(connectMortal(t, srv, nil)); err != nil {
		t.Error("jetstream.New:", err)
	}
	return m
}

// steps makes a node run the handler step; the node dies before its k-th write after the first task has begun.
func (m mortal) steps(n *cluster.Node, ran *sync.Map, began func()) {
	cluster.Handle(n, "step", func(ctx context.Context, name string) (string, error) {
		count, _ := ran.LoadOrStore(name, new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
		began()
		return name, nil
	}, cluster.WithAckWait(time.Second))
}

func TestDependentsAreReleasedWhereverANodeDies(t *testing.T) {
	t.Parallel()
	eachDeath(t, func(t *testing.T, m mortal, k int) {
		var ran sync.Map
		began := make(chan struct{})
		var once sync.Once
		first := m.open(m.conn)
		m.steps(first, &ran, func() { once.Do(func() { m.conn.arm(k); close(began) }) })
		m.known(t)
		var futures []*cluster.Future[string]
		submit := func(name string, opts ...cluster.SubmitOption) {
			f, err := cluster.Submit[string, string](t.Context(), m.submit, "step", name, append(opts, cluster.ID(name))...)
			if err != nil {
				t.Error(k, name, err)
				return
			}
			futures = append(futures, f)
		}
		submit("b", cluster.After(cluster.TaskID("a")))
		submit("c", cluster.After(cluster.TaskID("a"), cluster.TaskID("b")))
		submit("a", cluster.Unique("a", time.Hour))
		<-began
		m.steps(m.open(nil), &ran, func() {})
		for _, f := range futures {
			if got, err := f.Wait(t.Context()); got != f.ID() || err != nil {
				t.Error(k, got, err)
			}
		}
		ran.Range(func(name, count any) bool {
			if n := count.(*atomic.Int64).Load(); n > 2 {
				t.Error(k, name, "ran", n, "times")
			}
			return true
		})
	})
}

// known waits until the servers know the handler step, and lane until they know a lane.
func (m mortal) known(t *testing.T) { m.lane(t, "step_p1") }

func (m mortal) lane(t *testing.T, consumer string) {
	so, err := poll.Ask(patience, func() (bool, any) {
		_, err := m.js.Consumer(t.Context(), m.name+"_work", consumer)
		return err == nil, err
	})
	if !so {
		t.Error("poll.Ask:", err)
	}
}

// empty waits until nothing is left of tasks.
func (m mortal) empty(t *testing.T, k int) {
	all := [][2]string{{m.name + "_work", m.name + ".>"}, {m.name + "_later", m.name + ".>"}}
	if os.Getenv("FILCH_LONG") != "" { // what is left there is found only after a minute
		all = append(all, [2]string{"KV_" + m.name + "_after", "$KV." + m.name + "_after.edge.>"}, [2]string{"KV_" + m.name + "_after", "$KV." + m.name + "_after.met.*"})
	}
	for _, of := range all {
		so, is := poll.Ask(3*time.Minute, func() (bool, any) {
			n, err := countOf(t.Context(), m.js, of[0], of[1])
			if err != nil {
				return false, err
			}
			return n == 0, n
		})
		if !so {
			t.Error(k, of, is)
		}
	}
	kv, err := m.js.KeyValue(t.Context(), m.name+"_unique")
	if err != nil {
		t.Error("m.js.KeyValue:", err)
		return
	}
	if _, err := kv.Get(t.Context(), "a"); err == nil {
		t.Error(k, "the unique key is not free")
	}
}

func TestATaskOfADeadSubmitterCanBeSubmittedAgain(t *testing.T) {
	t.Parallel()
	eachDeath(t, func(t *testing.T, m mortal, k int) {
		var ran sync.Map
		m.steps(m.open(nil), &ran, func() {})
		m.known(t)
		a, err := cluster.Submit[string, string](t.Context(), m.submit, "step", "a")
		if err != nil {
			t.Error(k, err)
			return
		}
		again := func(n *cluster.Node, timeout time.Duration) (*cluster.Future[string], error) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			return cluster.Submit[string, string](ctx, n, "step", "b", cluster.ID("b"), cluster.After(a, cluster.TaskID("c")), cluster.Unique("a", time.Hour))
		}
		dying := m.open(m.conn)
		m.conn.arm(k)
		if _, err := again(dying, time.Second); err == nil && m.conn.died() {
			t.Error(k, "Submit of a dead node")
		}
		b, err := again(m.submit, patience)
		if err != nil {
			t.Error(k, err)
			return
		}
		if _, err := cluster.Submit[string, string](t.Context(), m.submit, "step", "c", cluster.ID("c")); err != nil {
			t.Error(k, err)
		}
		if got, err := b.Wait(t.Context()); got != "b" || err != nil {
			t.Error(k, got, err)
		}
		if n, ok := ran.Load("b"); !ok || n.(*atomic.Int64).Load() != 1 {
			t.Error(k, "b ran", n)
		}
	})
}
