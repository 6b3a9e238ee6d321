package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Role is what a user of the servers may do in a cluster. Each has the rights of the ones before.
type Role int

const (
	// Submitter submits tasks, asks for their cancellation, and reads outcomes: also those of others, if it knows or lists their IDs. It reads
	// no task, makes no consumer, and removes no unique key; workers take unique keys for it.
	Submitter Role = iota
	// Worker reads and runs tasks, and so can write any outcome and any dead letter. It takes unique keys and gives them back. It makes batches
	// and cron jobs. It cannot read dead letters.
	Worker
	// Operator makes, changes and deletes the streams of the cluster, and reads all that is in them. It pauses handlers, asks nodes
	// what they run, and puts dead letters back. The first node that opens a cluster needs it.
	Operator
)

// Permissions are the subjects that a user of the servers may publish and subscribe to; all others are to be denied.
type Permissions struct {
	Publish, Subscribe []string
	Responses          bool // whether it may answer what it is asked
}

// PermissionsOf returns the least permissions that a node needs for a role in a cluster. node is its name, as of
// [WithNode], or "*" for nodes of any name, which can then hear outcomes that are meant for others. inbox is
// the prefix of the connection's inboxes, as of [nats.CustomInboxPrefix]. Give each user one of its own: two users that
// share a prefix can hear each other's answers.
//
// It returns an error if an argument is no part of a subject.
func PermissionsOf(role Role, cluster, node, inbox string) (Permissions, error) {
	if role < Submitter || role > Operator {
		return Permissions{}, fmt.Errorf("cluster: there is no role %d", role)
	}
	if err := checkName("name of the cluster", cluster); err != nil {
		return Permissions{}, err
	}
	if node != "*" {
		if err := checkName("name of the node", node); err != nil {
			return Permissions{}, err
		}
	}
	if err := checkName("prefix of inboxes", inbox); err != nil {
		return Permissions{}, err
	}
	n := names{cluster}
	p := Permissions{Publish: n.toSubmit(node), Subscribe: []string{inbox + ".>", n.doneOf(node)}}
	if role >= Worker {
		p.Publish = least(append(p.Publish, n.toWork()...))
		p.Subscribe = append(p.Subscribe, n.who(), n.claim(), n.ended(), n.resumed())
		p.Responses = true
	}
	if role == Operator {
		p.Publish = least(append(p.Publish, n.toOperate()...))
	}
	return p, nil
}

// least returns subjects without those that another one stands for.
func least(subjects []string) []string {
	var all []string
	for i, s := range subjects {
		others := slices.Concat(all, subjects[i+1:])
		if !slices.ContainsFunc(others, func(o string) bool { return standsFor(o, s) }) {
			all = append(all, s)
		}
	}
	return all
}

// standsFor reports whether whatever matches a subject matches a pattern.
func standsFor(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return len(s) > i
		case i == len(s) || s[i] == ">" || token != "*" && token != s[i]:
			return false
		}
	}
	return len(p) == len(s)
}

// buckets are the buckets of the cluster.
func (n names) buckets() []string {
	return []string{n.results(), n.control(), n.after(), n.unique(), n.batches(), n.tries(), n.nodes()}
}

// streams are the streams of the cluster, with those of its buckets.
func (n names) streams() []string {
	all := []string{n.work(), n.dead(), n.later()}
	for _, bucket := range n.buckets() {
		all = append(all, streamOf(bucket))
	}
	return all
}

// streamOf is the stream of a bucket.
func streamOf(bucket string) string { return "KV_" + bucket }

// api is the subject of a request to JetStream.
func api(request string) string { return "$JS.API." + request }

// keys are the subjects of the keys of a bucket.
func keys(bucket string) string { return keyOf(bucket, ">") }

// keyOf is the subject of a key of a bucket.
func keyOf(bucket, key string) string { return "$KV." + bucket + "." + key }

// toWatch is what a node publishes to that hears the changes of a bucket.
func toWatch(bucket string) []string {
	s := streamOf(bucket)
	return []string{api("CONSUMER.CREATE." + s + ".>"), api("CONSUMER.DELETE." + s + ".*"), "$JS.FC." + s + ".>"}
}

// toRead is what a node publishes to that reads a key of a bucket.
func toRead(bucket string) string { return api("DIRECT.GET." + streamOf(bucket) + ".>") }

// toReadMany is what a node publishes to that reads several keys of a bucket at once.
func toReadMany(bucket string) string { return api("DIRECT.GET." + streamOf(bucket)) }

// toSubmit is what a submitter publishes to.
func (n names) toSubmit(node string) []string {
	subjects := []string{n.workAll(), n.laterOf(anyToken), n.claim(), n.ended(), keys(n.control()), keys(n.after()), keyOf(n.nodes(), node),
		api("CONSUMER.INFO." + n.work() + ".*"), toRead(n.results()), toReadMany(n.results())}
	for _, key := range []string{keyMet(anyToken), keyEdges(anyToken)} { // and no task
		subjects = append(subjects, strings.TrimSuffix(toRead(n.after()), ">")+keyOf(n.after(), key))
	}
	for _, s := range n.streams() {
		subjects = append(subjects, api("STREAM.INFO."+s))
	}
	return subjects
}

// toWork is what a worker publishes to beyond that.
func (n names) toWork() []string {
	subjects := []string{keys(n.results()), keys(n.tries()), keys(n.batches()), keys(n.unique()), n.deadAll(), n.doneOf("*"), n.cronOf("*"),
		api("CONSUMER.PAUSE." + n.work() + ".*"), toRead(n.control()), toRead(n.tries()), toRead(n.batches()), toRead(n.after()), toRead(n.unique()),
		api("STREAM.MSG.GET." + n.work()), api("DIRECT.GET." + n.work()), api("STREAM.MSG.GET." + n.later()),
		api("STREAM.PURGE." + n.later()), api("STREAM.PURGE." + streamOf(n.after())), api("STREAM.PURGE." + streamOf(n.unique()))}
	for _, s := range []string{n.work(), n.later()} {
		subjects = append(subjects, api("CONSUMER.CREATE."+s+".>"), api("CONSUMER.MSG.NEXT."+s+".*"), "$JS.ACK."+s+".>")
	}
	return slices.Concat(subjects, toWatch(n.control()), toWatch(n.after()))
}

// toOperate is what an operator publishes to beyond that.
func (n names) toOperate() []string {
	subjects := []string{n.who(), n.resumed(), api("INFO"), api("CONSUMER.MSG.NEXT." + n.dead() + ".*")}
	for _, s := range n.streams() {
		for _, request := range []string{"STREAM.CREATE.%s", "STREAM.UPDATE.%s", "STREAM.PURGE.%s", "STREAM.DELETE.%s", "STREAM.MSG.GET.%s",
			"STREAM.SNAPSHOT.%s", "STREAM.RESTORE.%s", "CONSUMER.*.%s", "CONSUMER.*.%s.>"} {
			subjects = append(subjects, api(fmt.Sprintf(request, s)))
		}
		subjects = append(subjects, "$JS.SNAPSHOT.*."+s+".*")
	}
	for _, s := range []string{n.work(), n.dead(), n.later()} { // a bucket refuses it
		subjects = append(subjects, api("STREAM.MSG.DELETE."+s))
	}
	for _, b := range n.buckets() {
		subjects = append(subjects, toRead(b), api("CONSUMER.MSG.NEXT."+streamOf(b)+".*"), "$JS.FC."+streamOf(b)+".>")
	}
	return subjects
}

// String returns p as it stands in the configuration of a NATS server, for "permissions" of a user.
func (p Permissions) String() string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, side := range []struct {
		name     string
		subjects []string
	}{{"publish", p.Publish}, {"subscribe", p.Subscribe}} {
		fmt.Fprintf(&b, "  %s: [\n", side.name)
		for _, s := range side.subjects {
			fmt.Fprintf(&b, "    %q\n", s)
		}
		b.WriteString("  ]\n")
	}
	if p.Responses {
		b.WriteString("  allow_responses: true\n")
	}
	b.WriteString("}")
	return b.String()
}
