package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/poll"
)

// freeKeys waits until all unique keys are free. Those of tasks that were never stored, since their process died within Submit, are
// given back by the tasks, which are submitted once more.
func (s *storm) freeKeys(last *client) {
	kv := s.bucket("filch_unique")
	for i := range uniqueKeys {
		key := "k" + strconv.Itoa(i)
		var owner string
		free := func() (bool, any) {
			ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
			defer cancel()
			entry, err := kv.Get(ctx, key)
			if err == nil {
				owner = string(entry.Value())
			}
			return errors.Is(err, jetstream.ErrKeyNotFound), err
		}
		so, _ := poll.Ask(30*time.Second, free)
		if so {
			continue
		}
		o := order{kind: "unique", handler: "job", id: owner, ends: endedWell}
		if _, ran := s.record(&strings.Builder{}).begun(owner); !ran {
			s.t.Log("the key", key, "was left by", owner)
			last.wait(last.store(o, unique(key)), o)
			so, _ = poll.Ask(30*time.Second, free)
		}
		if !so {
			s.t.Error("the unique key", key, "is not free; it is of", owner, s.record(&strings.Builder{}).story(owner))
		}
	}
}

// bucket returns a bucket of the cluster.
func (s *storm) bucket(name string) jetstream.KeyValue {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	kv, err := s.js.KeyValue(ctx, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return kv
}

// judgeOutcomes checks that the outcome of each task that has one can be read.
func (s *storm) judgeOutcomes(r *record) {
	kv := s.bucket("filch_results")
	for kind, acks := range r.acks {
		for _, a := range acks {
			if kind == "batch" && !r.closed[a.more] {
				continue
			}
			ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
			entry, err := kv.Get(ctx, a.id)
			cancel()
			if a.ends == endsUnsaid && errors.Is(err, jetstream.ErrKeyNotFound) {
				continue
			}
			if err != nil {
				s.t.Error(kind, "no outcome:", err, a.id, r.story(a.id))
				continue
			}
			line, result, _ := strings.Cut(string(entry.Value()), "\n")
			var o struct{ Status string }
			_ = json.Unmarshal([]byte(line), &o)
			if well := a.ends == endedWell && o.Status == "done" && result == strconv.Itoa(2*a.n); !well && (a.ends == endedWell || a.ends == endsUnsaid || o.Status != "failed") {
				s.t.Error(kind, "the outcome of", a.id, "is", line, result, r.story(a.id))
			}
		}
	}
}

// judgeLetters checks that the dead letters are those of the tasks that have failed.
func (s *storm) judgeLetters(r *record, n *cluster.Node) {
	expected := map[string]bool{}
	for _, acks := range r.acks {
		for _, a := range acks {
			if a.ends == endedBadly || a.ends == endsUnrun {
				expected[a.id] = true
			}
		}
	}
	for l, err := range n.Dead(s.t.Context(), "") {
		if err != nil {
			s.t.Error("the dead letters:", err)
			return
		}
		if _, badly := r.ended(l.ID, endedBadly); !badly && !expected[l.ID] { // its submitter may have died before it wrote that it is stored
			s.t.Error("a dead letter of a task that has not failed:", l.ID, l.Handler, l.Reason, l.Attempts, r.story(l.ID))
		}
		delete(expected, l.ID)
	}
	for id := range expected {
		s.t.Error("failed, and no dead letter:", id, r.story(id))
	}
}

// judgeRepeated checks that no more tasks ran again than the harms explain.
func (s *storm) judgeRepeated(r *record, repeated int) {
	bound := stormAgain * (s.harmed[workerKilled] + s.harmed[workerStopped] + stormWorkers*(s.harmed[serverKilled]+s.harmed[serverApart]))
	for kind, n := range s.harmed {
		s.t.Log(n, harms[kind])
	}
	all := 0
	for _, k := range kinds {
		s.t.Log(len(r.acks[k.name]), "of the kind", k.name)
		all += len(r.acks[k.name])
	}
	s.t.Logf("%d tasks were acknowledged, %d results told, the slowest after %v; %d runs were repeated, of %d that may be", all, r.told, r.slowest, repeated, bound)
	if repeated > bound {
		s.t.Error("too many tasks ran again")
	}
}
