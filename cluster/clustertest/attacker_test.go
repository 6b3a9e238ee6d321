package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// attacker is a client that keeps to no protocol of the package, with the permissions of a user.
type attacker struct {
	t    *testing.T
	user string
	nc   *nats.Conn
}

func attack(t *testing.T, url, user string) *attacker {
	t.Helper()
	nc, err := nats.Connect(url, as(user)...)
	if err != nil {
		t.Fatal(user, err)
	}
	t.Cleanup(nc.Close)
	return &attacker{t, user, nc}
}

// may sends a message, and reports whether the servers took it.
func (a *attacker) may(m *nats.Msg) bool {
	a.t.Helper()
	err := a.nc.PublishMsg(m)
	if err == nil {
		err = a.nc.FlushTimeout(10 * time.Second)
	}
	if err != nil {
		a.t.Fatal(a.user, m.Subject, err)
	}
	last := a.nc.LastError()
	return !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+m.Subject+`"`)
}

// mayHear reports whether the servers let it subscribe.
func (a *attacker) mayHear(subject string) bool {
	a.t.Helper()
	sub, err := a.nc.SubscribeSync(subject)
	if err == nil {
		err = a.nc.FlushTimeout(10 * time.Second)
	}
	if err != nil {
		a.t.Fatal(a.user, subject, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	last := a.nc.LastError()
	return !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`)
}

// example is a subject that a pattern stands for.
func example(pattern string) string {
	parts := strings.Split(pattern, ".")
	for i, p := range parts {
		if p == "*" || p == ">" {
			parts[i] = "x"
		}
	}
	return strings.Join(parts, ".")
}

// permissionsFor are those of a user.
func permissionsFor(t *testing.T, user string) cluster.Permissions {
	t.Helper()
	p, err := cluster.PermissionsOf(roleOf[user], "filch", user, "_INBOX_"+user)
	if err != nil {
		t.Fatal("cluster.PermissionsOf:", err)
	}
	return p
}

// permits reports whether one of the patterns stands for a subject.
func permits(patterns []string, subject string) bool {
	for _, p := range patterns {
		if matches(p, subject) {
			return true
		}
	}
	return false
}

// Nobody may use a subject of another role, or of another node, that is not his own as well.
func TestNoRoleUsesTheSubjectsOfAnother(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, url string, replicas int) {
		openAs(t, url, "operator", cluster.WithPlaces(0), cluster.WithReplicas(replicas))
		for _, user := range []string{"submitter", "worker", "operator"} {
			a, own := attack(t, url, user), permissionsFor(t, user)
			for other := range roleOf {
				for _, pattern := range permissionsFor(t, other).Publish {
					if s := example(pattern); !permits(own.Publish, s) && a.may(&nats.Msg{Subject: s}) {
						t.Errorf("%s may publish to %s of %s", user, s, other)
					}
				}
				for _, pattern := range permissionsFor(t, other).Subscribe {
					if !permits(own.Subscribe, example(pattern)) && a.mayHear(pattern) {
						t.Errorf("%s may subscribe to %s of %s", user, pattern, other)
					}
				}
			}
		}
	})
}

// onServers calls f with one server, and with three.
func onServers(t *testing.T, f func(t *testing.T, url string, replicas int)) {
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		f(t, clustertest.Server(t, clustertest.WithConfig(users(t))).URL(), 1)
	})
	t.Run("three servers", func(t *testing.T) {
		t.Parallel()
		f(t, clustertest.Three(t, clustertest.WithConfig(users(t))).URL(), 3)
	})
}

// forged is what an attacker wants the victim to take for the result of its task.
const forged = `{"status":"done","codec":"json"}` + "\n666"

// told is forged as a message to a node.
func told(id string) []byte {
	m := append([]byte{byte(len(id))}, id...)
	return append(append(m, byte(len(forged))), forged...)
}

// crime is a scene in which tasks of a victim wait and run.
type crime struct {
	a        *attacker
	js       jetstream.JetStream // the operator's
	victim   *cluster.Node
	running  *cluster.Future[int] // the task "runs", which has the unique key "key"; "waits" is one that waits for ever
	release  func()               // ends that
	submit   func() *cluster.Future[int]
	inbox    string             // of the attacker
	answered *nats.Subscription // what comes there
}

func commit(t *testing.T, url string, replicas int) *crime {
	t.Helper()
	openAs(t, url, "operator", cluster.WithPlaces(0), cluster.WithReplicas(replicas))
	worker := openAs(t, url, "worker", cluster.WithPlaces(2))
	c := &crime{a: attack(t, url, "submitter"), victim: openAs(t, url, "victim", cluster.WithPlaces(0))}
	began, gate := make(chan struct{}, 1), make(chan struct{})
	c.release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(c.release)
	cluster.Handle(worker, "gate", func(ctx context.Context, n int) (int, error) {
		if n == 1 {
			began <- struct{}{}
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return n, ctx.Err()
	})
	_, c.js = connect(t, url, as("operator")...)
	until(t, c.js, "gate_p1", known)
	submit := func(n int, opts ...cluster.SubmitOption) *cluster.Future[int] {
		f, err := cluster.Submit[int, int](t.Context(), c.victim, "gate", n, opts...)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		return f
	}
	c.running = submit(1, cluster.ID("runs"), cluster.Unique("key", time.Hour))
	submit(2, cluster.ID("waits"), cluster.After(cluster.TaskID("never")))
	c.submit = func() *cluster.Future[int] { return submit(3) }
	<-began
	c.inbox = "_INBOX_submitter.answers"
	var err error
	if c.answered, err = c.a.nc.SubscribeSync(c.inbox); err != nil {
		t.Fatal("c.a.nc.SubscribeSync:", err)
	}
	return c
}

// answers returns whether the servers have answered any of the requests with what contains a text, before they answer one more.
func (c *crime) answers(text string) bool {
	c.a.t.Helper()
	if !c.a.may(&nats.Msg{Subject: "$JS.API.STREAM.INFO.filch_work", Reply: c.inbox}) {
		c.a.t.Fatal("the last request is not permitted")
	}
	for {
		m, err := c.answered.NextMsgWithContext(within(c.a.t))
		if err != nil {
			c.a.t.Fatal("the servers do not answer:", err)
		}
		switch data := string(m.Data); {
		case strings.Contains(data, text):
			return true
		case strings.Contains(data, "stream_info_response"):
			return false
		}
	}
}

// What an attacker tells a node is not believed, by whatever way it comes there: the servers send an answer to where the request says.
func TestNobodyTellsAForgedOutcome(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, url string, replicas int) {
		c := commit(t, url, replicas)
		const by, to = "$KV.filch_after.met.forged", "filch.done.victim"
		if !c.a.may(&nats.Msg{Subject: by, Data: told("runs")}) {
			t.Fatal("the attack needs a key that a submitter may write")
		}
		if c.a.may(&nats.Msg{Subject: to, Data: told("runs")}) {
			t.Error("a submitter may tell of outcomes")
		}
		if c.a.may(&nats.Msg{Subject: "$JS.API.CONSUMER.CREATE.KV_filch_after.mine", Reply: c.inbox,
			Data: []byte(`{"stream_name":"KV_filch_after","config":{"name":"mine","deliver_subject":"` + to + `","deliver_policy":"all","ack_policy":"none"}}`)}) {
			t.Error("a submitter may make a consumer")
		}
		eventually(t, "the servers have what the attacker has stored", func() bool {
			c.a.may(&nats.Msg{Subject: "$JS.API.DIRECT.GET.KV_filch_after." + by, Reply: c.inbox})
			return c.answers("666")
		})
		for range 3 { // of three servers, one may not have it yet
			c.a.may(&nats.Msg{Subject: "$JS.API.DIRECT.GET.KV_filch_after." + by, Reply: to})
		}
		expect(t, c.submit(), 3) // by then the victim has heard all of before
		select {
		case <-c.running.Done():
			got, err := c.running.Wait(t.Context())
			t.Fatal("the result of a task that runs is", got, err)
		default:
		}
		c.release()
		expect(t, c.running, 1)
	})
}

// What an attacker has the servers store as an outcome, since an answer goes to where the request says, is no result.
func TestNobodyStoresAForgedResult(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, url string, replicas int) {
		c := commit(t, url, replicas)
		const by, to = "$KV.filch_after.met.forged", "$KV.filch_results.runs"
		if c.a.may(&nats.Msg{Subject: to, Data: []byte(forged)}) {
			t.Error("a submitter may store outcomes")
		}
		for _, h := range []nats.Header{{}, {"Nats-Sequence": {"1"}, "Nats-Stream": {"KV_filch_results"}, "Nats-Subject": {to}}} {
			if !c.a.may(&nats.Msg{Subject: by, Header: h, Data: []byte(forged)}) {
				t.Fatal("the attack needs a key that a submitter may write")
			}
			untilStream(t, c.js, "KV_filch_after", by, func(n int) bool { return n == 1 })
			for range 3 {
				c.a.may(&nats.Msg{Subject: "$JS.API.DIRECT.GET.KV_filch_after." + by, Reply: to})
			}
		}
		untilStream(t, c.js, "KV_filch_results", to, func(n int) bool { return n == 1 })
		c.release()
		if got, err := c.running.Wait(t.Context()); err == nil && got != 1 {
			t.Errorf("the result is %d, which is what the attacker has said", got)
		}
		f, err := cluster.Attach[int](t.Context(), c.victim, "runs")
		if got, err := wait(t, f, err); err == nil && got != 1 {
			t.Errorf("the result of Attach is %d, which is what the attacker has said", got)
		}
	})
}

// A submitter reads no task of another that waits, and knows of it what its ID is.
func TestASubmitterReadsNoTaskThatWaits(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, url string, replicas int) {
		c := commit(t, url, replicas)
		const key = "$KV.filch_after.task.waits"
		for subject, body := range map[string]string{
			"$JS.API.DIRECT.GET.KV_filch_after." + key:              "",
			"$JS.API.DIRECT.GET.KV_filch_after":                     `{"last_by_subj":"` + key + `"}`,
			"$JS.API.DIRECT.GET.KV_filch_after.$KV.filch_after.>":   "",
			"$JS.API.DIRECT.GET.KV_filch_after.$KV.filch_after.*.*": "",
			"$JS.API.STREAM.MSG.GET.KV_filch_after":                 `{"last_by_subj":"` + key + `"}`,
			"$JS.API.CONSUMER.CREATE.KV_filch_after.mine":           `{"stream_name":"KV_filch_after","config":{"name":"mine","deliver_subject":"` + c.inbox + `","ack_policy":"none"}}`,
			"$JS.API.CONSUMER.CREATE.KV_filch_after.mine." + key:    `{"stream_name":"KV_filch_after","config":{"name":"mine","deliver_subject":"` + c.inbox + `","ack_policy":"none","filter_subject":"` + key + `"}}`,
		} {
			if c.a.may(&nats.Msg{Subject: subject, Reply: c.inbox, Data: []byte(body)}) {
				t.Errorf("a submitter may ask %s %s", subject, body)
			}
		}
		if c.answers("filch.work.gate") {
			t.Error("a submitter reads the task of another")
		}
		c.release()
	})
}

// A submitter frees no key of another, and takes none over.
func TestASubmitterFreesNoKeyOfAnother(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, url string, replicas int) {
		c := commit(t, url, replicas)
		const key = "$KV.filch_unique.key"
		for _, m := range []*nats.Msg{
			{Subject: "$JS.API.STREAM.PURGE.KV_filch_unique"},
			{Subject: "$JS.API.STREAM.PURGE.KV_filch_unique", Data: []byte(`{"filter":"` + key + `"}`)},
			{Subject: "$JS.API.STREAM.MSG.DELETE.KV_filch_unique", Data: []byte(`{"seq":1}`)},
			{Subject: key, Header: nats.Header{"KV-Operation": {"DEL"}}},
			{Subject: key, Header: nats.Header{"KV-Operation": {"PURGE"}, jetstream.MsgRollup: {"sub"}}},
			{Subject: key, Data: []byte("mine")},
		} {
			if m.Reply = c.inbox; c.a.may(m) {
				t.Errorf("a submitter may publish to %s: %q %s", m.Subject, m.Header, m.Data)
			}
		}
		// Whom a node takes a key for may give it back, and nobody else: also who asks for it in the name of the task that has it.
		c.ask(`{"key":"key","proof":"guessed","revision":%d}`, keyMessage(t, c.js, "key").Sequence)
		c.ask(`{"key":"key","proof":"mine","revision":%d}`, c.ask(`{"key":"key","id":"runs","for":1000000000,"proof":"mine"}`))
		if has := holder(t, c.js, "key"); has != "runs" {
			t.Fatalf("%q has the key, not runs", has)
		}
		if left := ttlOf(t, c.js, "key"); left < 50*time.Minute {
			t.Errorf("the key is held for %v, and was asked for for an hour", left)
		}
		revision := c.ask(`{"key":"other","id":"mine","for":3600000000000,"proof":"mine"}`)
		eventually(t, "mine has the other key, for which it has asked", func() bool { return holder(t, c.js, "other") == "mine" })
		c.ask(`{"key":"other","proof":"mine","revision":%d}`, revision)
		eventually(t, "the other key is free, which was given back", func() bool { return holder(t, c.js, "other") == "" })
		c.release()
		expect(t, c.running, 1)
		eventually(t, "the end of the task frees the key", func() bool { return holder(t, c.js, "key") == "" })
	})
}

// ask asks a node about a unique key, and returns the revision in its answer.
func (c *crime) ask(format string, args ...any) uint64 {
	c.a.t.Helper()
	until := `{"until":"2200-01-01T00:00:00Z",`
	m, err := c.a.nc.RequestWithContext(within(c.a.t), "filch.claim", fmt.Appendf(nil, until+format[1:], args...))
	if err != nil {
		c.a.t.Fatal(format, err)
	}
	var answer struct {
		Revision uint64 `json:"revision"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		c.a.t.Fatalf("%s: %q: %v", format, m.Data, err)
	}
	return answer.Revision
}

// keyMessage is the message of a unique key.
func keyMessage(t *testing.T, js jetstream.JetStream, key string) *jetstream.RawStreamMsg {
	t.Helper()
	s, err := js.Stream(t.Context(), "KV_filch_unique")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), "$KV.filch_unique."+key)
	if err != nil {
		t.Fatal(key, err)
	}
	return m
}

func ttlOf(t *testing.T, js jetstream.JetStream, key string) time.Duration {
	t.Helper()
	m := keyMessage(t, js, key)
	d, err := time.ParseDuration(m.Header.Get("Nats-TTL"))
	if err != nil {
		t.Fatal(key, err)
	}
	return d
}
