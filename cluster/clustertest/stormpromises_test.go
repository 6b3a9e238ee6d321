package clustertest_test

import (
	"strings"
	"time"
)

// judgeUnique checks that there was one task of each key at a time, also of those that were not acknowledged.
func (r *record) judgeUnique(acks []ack) {
	byKey := map[string]map[string]bool{}
	for id := range r.runs {
		key, rest, _ := strings.Cut(id, "-")
		if !strings.HasPrefix(key, acks[0].kind) || strings.HasSuffix(rest, "-dep") {
			continue
		}
		if byKey[key] == nil {
			byKey[key] = map[string]bool{}
		}
		byKey[key][id] = true
	}
	for key, ids := range byKey {
		r.turns("unique key "+key, 1, ids)
	}
}

// judgeDelay checks that no task began early.
func (r *record) judgeDelay(acks []ack) {
	for _, a := range acks {
		if begun, ran := r.begun(a.id); ran && begun < a.called+number(a.more) {
			r.t.Errorf("a delayed task began %v early: %s", time.Duration(a.called+number(a.more)-begun), r.story(a.id))
		}
	}
}

// judgeDAG checks that no task began before those that it is after had ended well.
func (r *record) judgeDAG(acks []ack) {
	for _, a := range acks {
		for _, dep := range strings.TrimPrefix(a.more, ".") {
			r.after(a.id, a.id[:len(a.id)-1]+string(dep), endedWell)
		}
	}
}

// judgeBatch checks that no completion began before all members of its batch had ended.
func (r *record) judgeBatch(completions []ack) {
	members := map[string][]ack{}
	for _, m := range r.acks["member"] {
		members[m.more] = append(members[m.more], m)
	}
	for _, c := range completions {
		for _, m := range members[c.more] {
			r.after(c.id, m.id, m.ends)
		}
	}
}

// judgeKeys checks that tasks of a key ran one after the other, in the order in which they were submitted.
func (r *record) judgeKeys(acks []ack) {
	last := map[string]ack{}
	for _, a := range acks { // in the order in which their process has written them
		key, _, _ := strings.Cut(a.more, ":")
		if before, ok := last[key]; ok {
			r.after(a.id, before.id, endedWell)
		}
		last[key] = a
	}
}

// judgeLimit checks that no more tasks ran at once than the handler's limit.
func (r *record) judgeLimit([]ack) {
	ids := map[string]bool{}
	for id, runs := range r.runs {
		if runs[0].handler == "limited" {
			ids[id] = true
		}
	}
	r.turns("limit", stormLimit, ids)
}

// judgeChildren checks that no task ended before the one that it waits for.
func (r *record) judgeChildren(acks []ack) {
	for _, a := range acks {
		end, ok := r.ended(a.id, endedWell)
		if child, well := r.ended(childOf(a.id), endedWell); ok && (!well || end < child) {
			r.t.Error("ended before its child:", r.story(a.id, childOf(a.id)))
		}
	}
}
