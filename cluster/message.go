package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// headerPrefix is what our headers begin with. A dead letter keeps those of its message, also those of a foreign version.
const headerPrefix = "Filch-"

// Headers of a task's message.
const (
	headerID      = "Filch-Id"
	headerCodec   = "Filch-Codec"
	headerFrom    = "Filch-From"    // the node that waits for the outcome; none if no result is stored
	headerSecret  = "Filch-Secret"  // of that node: it believes an outcome that comes with it
	headerBy      = "Filch-By"      // the node that has submitted it, if it does not wait
	headerKey     = "Filch-Key"     // tasks of one key run in order
	headerTime    = "Filch-Time"    // how long the task may take from when it is stored, in ns
	headerSince   = "Filch-Since"   // from when that counts, if the task is stored anew since it has waited to be moved
	headerVersion = "Filch-Version" // of this form
)

// formVersion is the version of the form of messages. A node refuses messages of others.
const formVersion = "1"

// task is what a message asks for.
type task struct {
	id      token
	handler string // with its version
	codec   string
	from    string
	secret  string // of from
	by      string // the node that has submitted it; from, if that is not empty
	key     token
	unique  token
	batch   token // and number
	number  int
	time    time.Duration // 0 for no limit
	since   time.Time     // from when that counts, by the servers' clock; zero for when the message was stored
	data    []byte
}

// message returns t as a message for a subject.
func (t *task) message(subject string) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: t.data, Header: nats.Header{
		headerVersion: {formVersion},
		headerID:      {string(t.id)},
		headerCodec:   {t.codec},
		nats.MsgIdHdr: {string(t.id)},
	}}
	if t.from != "" {
		m.Header[headerFrom], m.Header[headerSecret] = []string{t.from}, []string{t.secret}
	} else if t.by != "" {
		m.Header[headerBy] = []string{t.by}
	}
	if t.key != "" {
		m.Header[headerKey] = []string{string(t.key)}
	}
	if t.time > 0 {
		m.Header[headerTime] = []string{strconv.FormatInt(int64(t.time), 10)}
	}
	return m
}

// asker is the node that waits for the outcome.
func (t *task) asker() asker { return asker{t.from, t.secret} }

// header returns the first value of a header. Get panics for one without values, as what is stored as JSON can have.
func header(h nats.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// textOf returns the text of a token in a header, or "" if there is none that can be read.
func textOf(h nats.Header, key string) string {
	t, _ := parseToken(key, header(h, key))
	return t.text()
}

// parseTask reads a message for a handler. A message that it cannot read is nobody's task: it goes to the dead letters.
func parseTask(handler string, h nats.Header, data []byte) (*task, error) {
	if v := header(h, headerVersion); v != formVersion {
		return nil, fmt.Errorf("the message has version %q, and this node reads %s", v, formVersion)
	}
	t := &task{handler: handler, codec: header(h, headerCodec), from: header(h, headerFrom), secret: header(h, headerSecret), by: header(h, headerBy), data: data}
	if err := t.parseTokens(h); err != nil {
		return nil, err
	}
	if t.from != "" {
		t.by = t.from
	}
	if t.by != "" {
		if err := checkName("submitting node", t.by); err != nil {
			return nil, err
		}
	}
	if text := header(h, headerTime); text != "" {
		ns, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ns <= 0 {
			return nil, errors.New("the message has a time limit that is no positive number of nanoseconds")
		}
		t.time = time.Duration(ns)
	}
	if text := header(h, headerSince); text != "" {
		var err error
		if t.since, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil, errors.New("the message has a time limit that counts from no time")
		}
	}
	var err error
	t.batch, t.number, err = parseBatch(header(h, headerBatch))
	return t, err
}

// parseTokens reads the ID and the keys of a message.
func (t *task) parseTokens(h nats.Header) (err error) {
	if t.id, err = parseToken("ID", header(h, headerID)); err != nil {
		return err
	}
	if stored := header(h, headerKey); stored != "" {
		if t.key, err = parseToken("key", stored); err != nil {
			return err
		}
	}
	if stored := header(h, headerUnique); stored != "" {
		t.unique, err = parseToken("unique key", stored)
	}
	return err
}
