package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/clustertest"
)

// storm is three servers, workers and submitters under load, of which some are killed, stopped or cut off at random.
type storm struct {
	t       *testing.T
	servers *clustertest.Servers
	rng     *rand.Rand
	nodes   [2][]*clustertest.Process // workers, submitters
	all     [2][]*clustertest.Process // with those that were killed
	js      jetstream.JetStream
	nc      *nats.Conn

	harmed [len(harms)]int
}

// harms are what a storm does.
var harms = [...]string{workerKilled: "workers killed", submitterKilled: "submitters killed", serverKilled: "servers killed",
	workerStopped: "workers stopped", serverApart: "servers cut off"}

const (
	workerKilled = iota
	submitterKilled
	serverKilled
	workerStopped
	serverApart
)

const (
	stormWorkers    = 3
	stormSubmitters = 2
	stormPlaces     = 4
	// stormAgain bounds how many tasks a node has that run again when it is killed, or cut off from the servers: those that
	// are not settled, 64 at least, and one for each lane that waits for a place.
	stormAgain = 64 + 3
)

// stormTime returns for how long there is a storm, and its seed.
func stormTime(t *testing.T) (time.Duration, uint64) {
	d := 10 * time.Second
	if os.Getenv("FILCH_LONG") != "" {
		d = 5 * time.Minute
	}
	if text := os.Getenv("FILCH_STORM"); text != "" {
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			t.Fatal("FILCH_STORM:", err)
		}
	}
	seed := rand.Uint64()
	if text := os.Getenv("FILCH_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal("FILCH_SEED:", err)
		}
	}
	return d, seed
}

// Whatever is killed, stopped or cut off, each task that was acknowledged runs, its result is read, and nothing is stuck.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for 10 s")
	}
	t.Parallel()
	d, seed := stormTime(t)
	s := &storm{t: t, servers: clustertest.Three(t), rng: rand.New(rand.NewPCG(seed, 0))}
	t.Logf("FILCH_SEED=%d FILCH_STORM=%v", seed, d)
	s.begin()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Duration(300+s.rng.IntN(900)) * time.Millisecond)
		s.harm()
	}
	s.end()
}

// begin starts the nodes.
func (s *storm) begin() {
	var err error
	if s.nc, err = nats.Connect(s.servers.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond)); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.nc.Close)
	if s.js, err = jetstream.New(s.nc); err != nil {
		s.t.Fatal(err)
	}
	s.nodes = [2][]*clustertest.Process{make([]*clustertest.Process, stormWorkers), make([]*clustertest.Process, stormSubmitters)}
	for kind := range s.nodes {
		for i := range s.nodes[kind] {
			s.start(kind, i)
			if _, err := s.nodes[kind][i].Line(s.t.Context(), "ready"); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// start starts a worker or a submitter, by a name that no other has had.
func (s *storm) start(kind, i int) {
	program := [...]string{"worker", "submitter"}[kind]
	name := fmt.Sprintf("%s%d-%d", program, i, len(s.all[kind]))
	p := clustertest.Start(s.t, program, s.servers.URL(), name, strconv.Itoa(stormPlaces))
	s.nodes[kind][i] = p
	s.all[kind] = append(s.all[kind], p)
}

// harm does something at random. A server stays away for a while, and only one at a time.
func (s *storm) harm() {
	kind := s.rng.IntN(len(harms))
	s.harmed[kind]++
	worker, submitter, server := s.rng.IntN(stormWorkers), s.rng.IntN(stormSubmitters), s.rng.IntN(s.servers.Len())
	away := time.Duration(s.rng.IntN(3000)) * time.Millisecond
	switch kind {
	case workerKilled:
		s.nodes[0][worker].Kill()
		s.start(0, worker)
	case submitterKilled:
		s.nodes[1][submitter].Kill()
		s.start(1, submitter)
	case serverKilled:
		s.servers.Kill(server)
		time.Sleep(away)
		if err := s.servers.Restart(s.t.Context(), server); err != nil {
			s.t.Fatal(err)
		}
		s.agree()
	case workerStopped:
		p := s.nodes[0][worker]
		if err := p.Stop(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			s.t.Fatal(err)
		}
		time.Sleep(away)
		_ = p.Resume()
	case serverApart:
		s.servers.Isolate(server)
		time.Sleep(away)
		s.servers.Rejoin(server)
		s.agree()
	}
}

// agree waits until all three servers have what the others have: else the next harm may take the majority.
func (s *storm) agree() {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var last string
	for names := []string{"filch_work", "KV_filch_results"}; len(names) > 0; time.Sleep(50 * time.Millisecond) {
		attempt, done := context.WithTimeout(ctx, 2*time.Second)
		stream, err := s.js.Stream(attempt, names[0])
		done()
		switch {
		case err == nil && current(stream.CachedInfo().Cluster):
			names = names[1:]
		case ctx.Err() != nil:
			s.t.Fatalf("the servers do not agree on %s again: %v, %s", names[0], err, last)
		case err == nil:
			data, _ := json.Marshal(stream.CachedInfo().Cluster)
			last = string(data)
		}
	}
}

// current reports whether a stream has a leader, and its other servers what it has, but for what is under way.
func current(c *jetstream.ClusterInfo) bool {
	if c == nil || c.Leader == "" || len(c.Replicas) != 2 {
		return false
	}
	for _, r := range c.Replicas {
		if r.Offline || r.Lag > 100 {
			return false
		}
	}
	return true
}

// end stops the submitters, waits until all tasks have ended, and judges.
func (s *storm) end() {
	for _, p := range s.nodes[1] {
		p.Kill()
	}
	emptyWithin(s.t, s.js, time.Minute)
	runs := map[string]int{}
	for _, p := range s.all[0] {
		for line := range strings.Lines(p.Output()) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "ran "); ok {
				runs[id]++
			}
		}
	}
	stored, told, slowest := s.submitted()
	for id, n := range stored {
		if runs[id] == 0 {
			s.t.Error("stored, and never run:", id)
		}
		s.hasResult(id, n)
	}
	again := 0
	for _, n := range runs {
		again += n - 1
	}
	bound := stormAgain * (s.harmed[workerKilled] + s.harmed[workerStopped] + stormWorkers*(s.harmed[serverKilled]+s.harmed[serverApart]))
	for kind, n := range s.harmed {
		s.t.Log(n, harms[kind])
	}
	s.t.Logf("%d tasks were acknowledged, %d results told, the slowest after %v; %d runs were repeated, of %d that may be", len(stored), told, slowest, again, bound)
	if again > bound {
		s.t.Error("too many tasks ran again")
	}
	if dead := deadLetters(s.t, s.js); dead != 0 {
		s.t.Error("dead letters of tasks that have not failed:", dead)
	}
	if len(stored) == 0 || told == 0 {
		s.t.Error("nothing has happened")
	}
}

// submitted returns the tasks that were acknowledged, with their arguments, how many results were told, and after what time the last.
func (s *storm) submitted() (stored map[string]int, told int, slowest time.Duration) {
	stored = map[string]int{}
	for _, p := range s.all[1] {
		for line := range strings.Lines(p.Output()) {
			f := strings.Fields(line)
			switch {
			case len(f) == 3 && f[0] == "stored":
				stored[f[1]], _ = strconv.Atoi(f[2])
			case len(f) == 3 && f[0] == "told":
				told++
				ms, _ := strconv.Atoi(f[1])
				slowest = max(slowest, time.Duration(ms)*time.Millisecond)
			case len(f) > 0 && f[0] == "wrong":
				s.t.Error(line)
			}
		}
	}
	return stored, told, slowest
}

// hasResult checks that the result of a task can be read.
func (s *storm) hasResult(id string, n int) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	kv, err := s.js.KeyValue(ctx, "filch_results")
	if err != nil {
		s.t.Fatal(err)
	}
	entry, err := kv.Get(ctx, id)
	if err != nil {
		s.t.Error("no result:", id, err)
		return
	}
	line, result, _ := strings.Cut(string(entry.Value()), "\n")
	if result != strconv.Itoa(2*n) {
		s.t.Error("the result of", id, "is", line, result)
	}
}
