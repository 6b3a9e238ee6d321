package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
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
	known := s.known()
	var taken map[string]string
	free := func() (so bool, is any) {
		var err error
		taken, err = s.keys()
		maps.DeleteFunc(taken, func(_, owner string) bool {
			return !known[owner] && strings.HasPrefix(owner, "cancel") // it may be canceled and not stored, and keeps its key then
		})
		return err == nil && len(taken) == 0, err
	}
	if so, _ := poll.Ask(5*time.Second, free); so {
		return
	}
	for key, owner := range taken {
		if !known[owner] {
			s.t.Log("the key", key, "was left by", owner)
			o := order{kind: "unique", handler: "job", id: owner, ends: endedWell}
			last.wait(last.store(o, unique(key)), o)
		}
	}
	if so, err := poll.Ask(30*time.Second, free); !so {
		for key, owner := range taken {
			s.t.Error("the unique key", key, "is not free; it is of", owner, err, s.record(&strings.Builder{}).story(owner))
		}
	}
}

// keys returns the unique keys that are taken, and by which tasks.
func (s *storm) keys() (map[string]string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	kv := s.bucket("filch_unique")
	keys, err := kv.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	taken := map[string]string{}
	for key := range keys.Keys() {
		entry, err := kv.Get(ctx, key)
		if err == nil {
			taken[key] = string(entry.Value())
		} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, err
		}
	}
	return taken, ctx.Err()
}

// known returns the tasks that have begun or were acknowledged.
func (s *storm) known() map[string]bool {
	known := map[string]bool{}
	r := s.record(&strings.Builder{})
	for id := range r.runs {
		known[id] = true
	}
	for _, acks := range r.acks {
		for _, a := range acks {
			known[a.id] = true
		}
	}
	return known
}

// bucket returns a bucket of the cluster.
func (s *storm) bucket(name string) jetstream.KeyValue {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	kv, err := s.js.KeyValue(ctx, name)
	if err != nil {
		s.t.Fatal("s.js.KeyValue:", err)
	}
	return kv
}

// judgeOutcomes checks that the outcome of each task that has one can be read.
func (s *storm) judgeOutcomes(r *record) {
	kv := s.bucket("filch_results")
	for kind, acks := range r.acks {
		for _, a := range acks {
			if r.mayWait(a) {
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
			well := o.Status == "done" && result == strconv.Itoa(2*a.n)
			if so := map[string]bool{endedWell: well, endsEither: well || o.Status == "canceled", endedBadly: o.Status == "failed", endsUnrun: o.Status == "failed"}; !so[a.ends] {
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
	bound := stormAgain * (s.harmed[workerKilled] + s.harmed[workerStopped] + s.harmed[workerClosed] + stormWorkers*(s.harmed[serverKilled]+s.harmed[serverApart]+s.harmed[clientsApart]))
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
	if all == 0 || r.told == 0 {
		s.t.Error("nothing has happened")
	}
}
