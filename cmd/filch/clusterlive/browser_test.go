package clusterlive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/cmd/filch/clusterlive"
	"github.com/filch-go/filch/internal/browser"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/thorough"
)

// The page does in a browser what it should; browser/page.mjs has the steps. It needs Chromium, Node and npm. It leaves screenshots in browser/shots.
func TestPageInABrowser(t *testing.T) {
	thorough.Only(t, "drives a page in Chromium")
	browser.Need(t)
	c := startCluster(t)
	v := &views{real: c.look}
	s := &browser.Server{Handler: clusterlive.Often(t.Context(), 200*time.Millisecond, v.ask)}
	s.Start(t, "127.0.0.1:0")
	defer s.Stop()
	steps := browser.Drive(t, "browser", func(what string) {
		switch what {
		case "haunt":
			c.haunt(t)
		case "leave c":
			c.desert(t)
		case "restart":
			s.Stop()
			s.Start(t, s.Address)
		default:
			v.show(what)
		}
	}, "http://"+s.Address+"/")
	if steps < 12 {
		t.Errorf("there were %d steps", steps)
	}
}

// views is what the page is told: what there is, or one of others.
type views struct {
	real func(context.Context) (clusterlive.View, error)

	mu   sync.Mutex
	what string // under mu
}

func (v *views) show(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.what = what
}

func (v *views) ask(ctx context.Context) (clusterlive.View, error) {
	v.mu.Lock()
	what := v.what
	v.mu.Unlock()
	switch what {
	case "cut":
		return clusterlive.View{}, errors.New("the wire is cut")
	case "fifty":
		return invented(50, 60), nil
	case "one":
		return invented(1, 1), nil
	case "empty":
		return clusterlive.View{}, nil
	}
	return v.real(ctx)
}

// opened is when invented nodes were.
var opened = time.Now().Add(-time.Hour)

// invented returns a view of nodes that have fetched tasks of submitters. At each call they have done more.
func invented(nodes, submitters int) (v clusterlive.View) {
	now := time.Now()
	done := now.UnixMilli() / 10 % 1e6
	for i := range nodes {
		n := cluster.NodeInfo{Name: fmt.Sprintf("render-%d", i+1), Host: "machine", PID: 100 + i, Places: 8, Handlers: []string{"render"}, Opened: opened, Seen: now, From: map[string]int64{}}
		n.Stats.Running, n.Stats.Done = i%9, done*int64(1+i)
		for k := range submitters {
			if (i+k)%3 > 0 || nodes == 1 {
				n.From[fmt.Sprintf("render-%d", k+1)] = int64(1+(i*7+k*13)%40) * int64(1+k%5*40)
			}
		}
		v.Nodes = append(v.Nodes, n)
		v.Queues = append(v.Queues, cluster.Queue{Handler: "render", Lane: fmt.Sprint(i), Waiting: i * 7 % 31, Taken: 8, Oldest: time.Duration(i) * time.Second})
	}
	return v
}

// A testCluster is three nodes that run tasks, and one that only submits them.
type testCluster struct {
	nc    *nats.Conn
	nodes map[string]*cluster.Node
}

func startCluster(t *testing.T) *testCluster {
	nc, stop, err := embedded.Server{Dir: t.TempDir(), NoSync: true}.Start(t.Context(), "filch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); stop() })
	c := &testCluster{nc: nc, nodes: map[string]*cluster.Node{}}
	for name, places := range map[string]int{"a": 4, "b": 4, "c": 2, "web": 0} {
		n, err := cluster.Open(t.Context(), cluster.WithConn(nc), cluster.WithNode(name), cluster.WithPlaces(places))
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		t.Cleanup(func() { _ = n.Close(context.WithoutCancel(t.Context())) })
		c.nodes[name] = n
	}
	for _, name := range []string{"a", "b", "c"} {
		cluster.Handle(c.nodes[name], "thumbnail", func(_ context.Context, d time.Duration) (int, error) { time.Sleep(d); return 0, nil })
		cluster.Handle(c.nodes[name], "resize", func(context.Context, int) (int, error) { return 0, nil })
		cluster.Handle(c.nodes[name], "reject", func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) })
	}
	cluster.Handle(c.nodes["c"], "orphan", func(context.Context, int) (int, error) { return 0, nil })
	untilHandled(t, c.nodes["web"], "thumbnail", "resize", "reject", "orphan")
	for i := range 3 {
		f, err := cluster.Submit[int, int](t.Context(), c.nodes["web"], "reject", i)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		if _, err := f.Wait(t.Context()); err == nil {
			t.Fatal("no error")
		}
	}
	if err := c.nodes["web"].Pause(t.Context(), "resize"); err != nil {
		t.Fatal("c.nodes:", err)
	}
	for i := range 40 {
		if _, err := cluster.Submit[int, int](t.Context(), c.nodes["web"], "resize", i); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	c.load(t)
	return c
}

// untilHandled waits until the servers know of handlers.
func untilHandled(t *testing.T, n *cluster.Node, handlers ...string) {
	poll.Until(t, 10*time.Second, "all handlers are there", func() (bool, any) {
		queues, err := n.Queues(t.Context())
		if err != nil {
			t.Fatal("n.Queues:", err)
		}
		return !slices.ContainsFunc(handlers, func(name string) bool {
			return !slices.ContainsFunc(queues, func(q cluster.Queue) bool { return q.Handler == name && q.Lane == "normal" })
		}), queues
	})
}

// haunt lists a node that is not there, whose names are hostile.
func (c *testCluster) haunt(t *testing.T) {
	js, err := jetstream.New(c.nc)
	if err != nil {
		t.Fatal("jetstream.New:", err)
	}
	bucket, err := js.KeyValue(t.Context(), "filch_nodes")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	const evil = "<img src=x onerror=document.title='gone'>"
	told, err := json.Marshal(cluster.NodeInfo{Host: evil, Places: 2, Handlers: []string{evil, "</script>"}, From: map[string]int64{evil: 7, "__proto__": 3, "web": 2}})
	if err != nil {
		t.Fatal("json.Marshal:", err)
	}
	if _, err := bucket.Put(t.Context(), "ghost", told); err != nil {
		t.Fatal("bucket.Put:", err)
	}
}

// load submits tasks until the test ends.
func (c *testCluster) load(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			var all []*cluster.Future[int]
			for k := range 12 {
				submitter := c.nodes["web"]
				if k%3 == 0 {
					submitter = c.nodes["a"]
				}
				f, err := cluster.Submit[time.Duration, int](ctx, submitter, "thumbnail", time.Duration(5+10*(k%3))*time.Millisecond)
				if err != nil {
					return // the test ends
				}
				all = append(all, f)
			}
			for _, f := range all {
				_, _ = f.Wait(ctx)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// look returns what there is.
func (c *testCluster) look(ctx context.Context) (v clusterlive.View, err error) {
	n := c.nodes["web"]
	if v.Nodes, err = n.Nodes(ctx); err != nil {
		return v, err
	}
	if v.Queues, err = n.Queues(ctx); err != nil {
		return v, err
	}
	v.Dead, err = n.DeadCounts(ctx)
	return v, err
}

// desert closes a node, and submits a task that only it could run.
func (c *testCluster) desert(t *testing.T) {
	if err := c.nodes["c"].Close(t.Context()); err != nil {
		t.Error("c.nodes:", err)
	}
	if _, err := cluster.Submit[int, int](t.Context(), c.nodes["web"], "orphan", 1); err != nil {
		t.Error("cluster.Submit:", err)
	}
}
