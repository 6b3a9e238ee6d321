package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/internal/poll"
)

// storm is three servers, workers and submitters under load, of which some are killed, stopped or cut off at random.
type storm struct {
	t       *testing.T
	dir     string // of the servers
	servers *clustertest.Servers
	rng     *rand.Rand
	nodes   [2][]*clustertest.Process // workers, submitters
	names   [2][]string               // of these
	all     [2][]*clustertest.Process // with those that were killed
	js      jetstream.JetStream
	nc      *nats.Conn

	harmed [len(harms)]int
	diary  strings.Builder // of the harms
}

// harms are what a storm does.
var harms = [...]string{workerKilled: "workers killed", submitterKilled: "submitters killed", serverKilled: "servers killed",
	workerStopped: "workers stopped", workerClosed: "workers closed", serverApart: "servers cut off", clientsApart: "servers cut off from their clients"}

const (
	workerKilled = iota
	submitterKilled
	serverKilled
	workerStopped
	workerClosed
	serverApart
	clientsApart
)

const (
	stormWorkers    = 3
	stormSubmitters = 2
	stormPlaces     = 4
	// stormAgain bounds how many tasks a node has that run again when it is killed, or cut off from the servers: those that
	// are not settled, 64 at least, one for each lane that waits for a place, and those that wait for a child.
	stormAgain = 64 + 3*3 + 1 + stormPartitions + 2*stormSubmitters
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
func TestNoTaskIsLostInAStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for 10 s")
	}
	t.Parallel()
	d, seed := stormTime(t)
	dir := t.TempDir()
	s := &storm{t: t, dir: dir, servers: clustertest.Three(t, clustertest.WithDir(dir)), rng: rand.New(rand.NewPCG(seed, 0))}
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
		s.t.Fatal("nats.Connect:", err)
	}
	s.t.Cleanup(s.nc.Close)
	if s.js, err = jetstream.New(s.nc); err != nil {
		s.t.Fatal("jetstream.New:", err)
	}
	s.nodes = [2][]*clustertest.Process{make([]*clustertest.Process, stormWorkers), make([]*clustertest.Process, stormSubmitters)}
	s.names = [2][]string{make([]string, stormWorkers), make([]string, stormSubmitters)}
	for kind := range s.nodes {
		for i := range s.nodes[kind] {
			s.start(kind, i)
			if _, err := s.nodes[kind][i].Line(s.t.Context(), "ready"); err != nil {
				s.t.Fatal("s.nodes:", err)
			}
		}
	}
}

// start starts a worker or a submitter, by a name that no other has had.
func (s *storm) start(kind, i int) {
	program := [...]string{"worker", "submitter"}[kind]
	name := fmt.Sprintf("%s%d-%d", program, i, len(s.all[kind]))
	p := clustertest.Start(s.t, program, s.servers.URL(), name, strconv.Itoa(stormPlaces))
	s.nodes[kind][i], s.names[kind][i] = p, name
	s.all[kind] = append(s.all[kind], p)
}

// harm does something at random. A server stays away for a while, and only one at a time.
func (s *storm) harm() {
	kind := s.rng.IntN(len(harms))
	s.harmed[kind]++
	worker, submitter, server := s.rng.IntN(stormWorkers), s.rng.IntN(stormSubmitters), s.rng.IntN(s.servers.Len())
	away := time.Duration(s.rng.IntN(3000)) * time.Millisecond
	defer func(begin time.Time) {
		fmt.Fprintf(&s.diary, "%s to %s: %s, worker %d, submitter %d, server %d\n", clockTime(begin.UnixNano()), clockTime(time.Now().UnixNano()), harms[kind], worker, submitter, server)
	}(time.Now())
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
			s.t.Fatal("s.servers.Restart:", err)
		}
		s.agree()
	case workerStopped:
		p := s.nodes[0][worker]
		if err := p.Stop(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			s.t.Fatal("p.Stop:", err)
		}
		time.Sleep(away)
		_ = p.Resume()
	case workerClosed:
		_ = s.nc.Publish(leaving(s.names[0][worker]), nil) // it may be lost
		select {
		case <-s.nodes[0][worker].Ended():
		case <-time.After(away):
		}
		s.nodes[0][worker].Kill()
		s.start(0, worker)
	case clientsApart:
		s.servers.Clients(server).Cut()
		time.Sleep(away)
		s.servers.Clients(server).Heal()
	case serverApart:
		s.servers.Isolate(server)
		time.Sleep(away)
		s.servers.Rejoin(server)
		s.agree()
	}
}

// agree waits until all three servers have what the others have: else the next harm may take the majority.
func (s *storm) agree() {
	names := []string{"filch_work", "filch_later", "filch_dead"}
	for _, bucket := range []string{"results", "tries", "control", "unique", "after", "batches"} {
		names = append(names, "KV_filch_"+bucket)
	}
	poll.Until(s.t, time.Minute, "the servers agree again", func() (bool, any) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
		defer cancel()
		stream, err := s.js.Stream(ctx, names[0])
		if err != nil {
			return false, fmt.Errorf("%s: %w", names[0], err)
		}
		if is := stream.CachedInfo().Cluster; !current(is) {
			text, _ := json.Marshal(is)
			return false, names[0] + ": " + string(text)
		}
		names = names[1:]
		return len(names) == 0, nil
	})
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

// end stops the submitters, has done what they have left half done, waits until all tasks have ended, and judges.
func (s *storm) end() {
	for _, p := range s.nodes[1] {
		p.Kill()
	}
	var out strings.Builder
	last := &client{n: nodeAt(s.servers.URL(), "last", cluster.WithPlaces(0)), name: "last", out: &out}
	defer func() { _ = last.n.Close(context.Background()) }()
	r := s.record(&out)
	for _, base := range r.dags {
		last.dag("dag", base)
	}
	for id, canceled := range r.cancel {
		if !canceled {
			last.cancel(id)
		}
	}
	s.freeKeys(last)
	s.settled(s.record(&out))
	r = s.record(&out)
	s.keep()
	repeated := r.judgeAll()
	for _, k := range kinds {
		if k.judge != nil && len(r.acks[k.name]) > 0 {
			k.judge(r, r.acks[k.name])
		}
	}
	s.judgeOutcomes(r)
	s.judgeLetters(r, last.n)
	s.judgeRepeated(r, repeated)
}

// record reads what all processes, and the test itself, have written so far.
func (s *storm) record(own *strings.Builder) *record {
	r := newRecord(s.t)
	for kind, all := range s.all {
		for i, p := range all {
			r.read(fmt.Sprint([...]string{"worker", "submitter"}[kind], i), p.Output())
		}
	}
	r.read("last", own.String())
	r.sort()
	return r
}

// keep writes what happened, and what the processes and the servers have written, into the folder of the test, which go test
// -artifacts keeps.
func (s *storm) keep() {
	texts := map[string]string{"harms": s.diary.String()}
	for kind, all := range s.all {
		for i, p := range all {
			texts[fmt.Sprint([...]string{"worker", "submitter"}[kind], i)] = p.Output()
		}
	}
	for i := range s.servers.Len() {
		name := fmt.Sprintf("server%d.log", i)
		log, _ := os.ReadFile(filepath.Join(s.dir, name))
		texts[name] = string(log)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(s.t.ArtifactDir(), name), []byte(text), 0o600); err != nil {
			s.t.Error("os.WriteFile:", err)
		}
	}
}

// settled waits until no task is left, but for completions of batches that were never closed, since their process died.
func (s *storm) settled(r *record) {
	ends := map[string]bool{}
	for _, a := range r.acks["batch"] {
		ends["task."+a.id] = !r.mayWait(a)
	}
	so, left := poll.Ask(2*time.Minute, func() (bool, any) {
		left, err := s.left()
		if err != nil {
			return false, err
		}
		left = slices.DeleteFunc(left, func(key string) bool { return strings.HasPrefix(key, "task.batch-") && !ends[key] })
		return len(left) == 0, left
	})
	if !so {
		s.t.Errorf("tasks are stuck: %v%s%s", left, s.keysOf(left.([]string)), consumers(s.t, s.js))
	}
}

// left returns what is stored of tasks that have not ended.
func (s *storm) left() (left []string, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	for _, stream := range []string{"filch_work", "filch_later"} {
		st, err := s.js.Stream(ctx, stream)
		if err != nil {
			return nil, err
		}
		info, err := st.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return nil, err
		}
		for subject, n := range info.State.Subjects {
			left = append(left, fmt.Sprintf("%s (%d)", subject, n))
		}
	}
	keys, err := s.bucket("filch_after").ListKeysFiltered(ctx, "task.*")
	if err != nil {
		return nil, err
	}
	for key := range keys.Keys() {
		left = append(left, key)
	}
	return left, ctx.Err()
}

// keysOf returns what the bucket of tasks that wait has of those that are left.
func (s *storm) keysOf(left []string) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	st, err := s.js.Stream(ctx, "KV_filch_after")
	if err != nil {
		return err.Error()
	}
	for _, key := range left {
		id, waits := strings.CutPrefix(key, "task.")
		if !waits {
			continue
		}
		for _, filter := range []string{"*." + id, "edge." + id + ".>"} {
			info, err := st.Info(ctx, jetstream.WithSubjectFilter("$KV.filch_after."+filter))
			if err != nil {
				return err.Error()
			}
			for subject, n := range info.State.Subjects {
				fmt.Fprintf(&b, "\n\t%s (%d)", subject, n)
			}
		}
	}
	return b.String()
}
