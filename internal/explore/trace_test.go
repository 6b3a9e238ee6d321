package explore

// traceMutations remove what package trace and the hooks of pools call necessary.
var traceMutations = []mutation{
	{"trace: a publisher wakes nobody that is hooked", "trace/fork", []Edit{{"internal/engine/demand.go",
		"\t\tp.Wake() // (R10)\n", "\t\tif !p.IsHooked() {\n\t\t\tp.Wake()\n\t\t}\n"}}},
	{"trace: hooks change without the lock", "trace/two hooks", []Edit{{"internal/engine/hook.go",
		"\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tvar all", "\tvar all"}}},
	{"trace: a fork is told after the push", "trace/a hook stays", []Edit{{"internal/engine/demand.go",
		"\t\t\tw.tellOf(event.Published, nil, j) // before it can be stolen\n\t\t\tw.own.Push(j)                     // (W10)\n", "\t\t\tw.own.Push(j)\n\t\t\tw.tellOf(event.Published, nil, j)\n"}}},
	{"trace: a fork keeps the number of the one before", "trace/a hook", []Edit{{"internal/engine/hook.go",
		"\tj.id = 0\n", ""}}},
	{"trace: a ring is taken by a store", "trace/ring", []Edit{{"trace/ring.go",
		"\tif !r.taken.CompareAndSwap(false, true) {\n\t\treturn false\n\t}\n", "\tr.taken.Store(true)\n"}}},
	{"trace: a reader does not take the ring", "trace/ring", []Edit{{"trace/ring.go",
		"\t\tfor !r.taken.CompareAndSwap(false, true) {", "\t\tfor false {"}}},
	{"trace: an event that finds the ring taken is lost", "trace/ring", []Edit{{"trace/recording.go",
		"!n.ringOf(e.Worker).put(&e) {", "!n.ringOf(e.Worker).put(&e) && false {"}}},
	{"trace: the ring of all without the lock", "trace/ring", []Edit{{"trace/ring.go",
		"\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.add(e)\n", "\ts.add(e)\n"}}},
	{"trace: two make the ring of a worker", "trace/ring", []Edit{{"trace/recording.go",
		"\tof.CompareAndSwap(nil, newRing(n.of.capacity))\n", "\tof.Store(newRing(n.of.capacity))\n"}}},
	{"trace: a snapshot has what is told while it reads", "trace/holes", []Edit{{"trace/recording.go",
		"until(end, inOrder(t.events))", "inOrder(t.events)"}}},
	{"trace: a follower forgets what was overwritten as it came", "trace/follower", []Edit{{"trace/follow.go",
		"\tif lost += skipped; lost > 0 {", "\tif lost = skipped; lost > 0 {"}}},
}
