package cluster

import (
	"fmt"
	"strings"
)

// maxHandler is how long the name of a handler with its version may be, in bytes: a consumer's name has 255, and ends with a lane.
const maxHandler = 255 - len("_k255")

// checkName returns an error if name cannot be part of a subject, a stream's name and a key. what says what it names.
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("cluster: the %s is empty", what)
	}
	if len(name) > maxName {
		return fmt.Errorf("cluster: the %s has %d bytes; %d are allowed", what, len(name), maxName)
	}
	for _, r := range name {
		if !isNameRune(r) {
			return fmt.Errorf("cluster: the %s %q contains %q; letters, digits, - and _ are allowed", what, name, r)
		}
	}
	return nil
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// names has the names that a cluster has on the servers. They all begin with the cluster's own, so that several
// clusters can share servers, and so that permissions are simple.
type names struct{ cluster string }

func (n names) work() string    { return n.cluster + "_work" }    // the stream of tasks
func (n names) dead() string    { return n.cluster + "_dead" }    // the stream of dead letters
func (n names) results() string { return n.cluster + "_results" } // the bucket of outcomes
func (n names) control() string { return n.cluster + "_control" } // the bucket of requests to cancel
func (n names) tries() string   { return n.cluster + "_tries" }   // the bucket of what failed and was given back
func (n names) nodes() string   { return n.cluster + "_nodes" }   // the bucket of nodes
func (n names) unique() string  { return n.cluster + "_unique" }  // the bucket of unique keys
func (n names) after() string   { return n.cluster + "_after" }   // the bucket of tasks that wait for others
func (n names) batches() string { return n.cluster + "_batches" } // the bucket of batches
func (n names) later() string   { return n.cluster + "_later" }   // the stream of delayed tasks and cron jobs

// workOf is the subject of the tasks of a lane of a handler.
func (n names) workOf(handler, lane string) string {
	return n.cluster + ".work." + handler + "." + lane
}

// workAll is the subject of all tasks.
func (n names) workAll() string { return n.cluster + ".work.>" }

// isWork reports whether a subject is one of a task.
func (n names) isWork(subject string) bool {
	return strings.HasPrefix(subject, strings.TrimSuffix(n.workAll(), ">"))
}

// deadOf is the subject of the dead letter of a task of a handler; "*" stands for any.
func (n names) deadOf(handler string, id token) string {
	return n.cluster + ".dead." + handler + "." + string(id)
}

// deadAll is the subject of all dead letters.
func (n names) deadAll() string { return n.cluster + ".dead.>" }

// doneOf is the subject where a node hears of the outcomes of what it has submitted.
func (n names) doneOf(node string) string { return n.cluster + ".done." + node }

// laterOf is the subject of a delayed task, until it is due.
func (n names) laterOf(id token) string { return n.cluster + ".later." + string(id) }

// cronOf is the subject of a cron job.
func (n names) cronOf(name string) string { return n.cluster + ".cron." + name }

// dueOf is the subject where a task for a subject of the work stream is put when it is due, and workOfDue its inverse.
func (n names) dueOf(work string) string {
	return n.cluster + ".due." + strings.TrimPrefix(work, n.cluster+".work.")
}

func (n names) workOfDue(due string) string {
	return n.cluster + ".work." + strings.TrimPrefix(due, n.cluster+".due.")
}

// handlerOf returns the handler of a subject of a task or a dead letter.
func (n names) handlerOf(subject string) string {
	if parts := strings.Split(subject, "."); len(parts) > 2 {
		return parts[2]
	}
	return ""
}

// who is the subject where nodes are asked which of them has a task.
func (n names) who() string { return n.cluster + ".who" }

// ended is the subject where nodes with places are told that a task has ended for which another waits.
func (n names) ended() string { return n.cluster + ".ended" }

// claim is the subject where nodes with places are asked for a unique key, or given one back.
func (n names) claim() string { return n.cluster + ".claim" }

// resumed is the subject where nodes with places are told that a handler is not paused any more.
func (n names) resumed() string { return n.cluster + ".resumed" }

// consumer is the name of the consumer of a lane.
func consumer(handler, lane string) string { return handler + "_" + lane }

// versioned is the name of a version of a handler on the servers; the empty version is the handler's own name.
func versioned(handler, version string) string {
	if version == "" {
		return handler
	}
	return handler + "@" + version
}

// cutVersion is the inverse of versioned.
func cutVersion(name string) (handler, version string) {
	handler, version, _ = strings.Cut(name, "@")
	return handler, version
}

// checkHandler returns an error if handler is no name, nor name@version.
func checkHandler(handler string) error {
	name, version, ok := strings.Cut(handler, "@")
	if err := checkName("name of the handler", name); err != nil || !ok {
		return err
	}
	return checkName("version of a handler", version)
}
