package clustertest_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	n := nodes[0]
	once := cluster.WithRetry(cluster.Retry{Attempts: 1})
	type of struct{ Result, Error int }
	h := cluster.Handle(n, "large", func(_ context.Context, o of) (string, error) {
		if o.Error > 0 {
			return "", errors.New(strings.Repeat("é", o.Error/2))
		}
		return strings.Repeat("r", o.Result), nil
	}, once, cluster.WithKeys(1))
	text := cluster.Handle(n, "text", func(_ context.Context, s string) (int, error) { return len(s), nil })
	if _, err := text.Submit(t.Context(), strings.Repeat("a", 1<<20)); !errors.Is(err, cluster.ErrTooLarge) || !strings.Contains(err.Error(), "the argument has 1048578 bytes, and 1032192 are allowed") {
		t.Error("argument:", err)
	}
	f, err := text.Submit(t.Context(), strings.Repeat("a", 1<<20-16<<10-2))
	if err != nil {
		t.Fatal("the largest argument:", err)
	}
	expect(t, f, 1<<20-16<<10-2)
	for name, opt := range map[string]cluster.SubmitOption{"key": cluster.Key(strings.Repeat("k", 129)), "ID": cluster.ID(strings.Repeat("k", 129))} {
		if _, err := h.Submit(t.Context(), of{}, opt); err == nil || !strings.Contains(err.Error(), "the "+name+" has 129 bytes; 128 are allowed") {
			t.Error(name, err)
		}
	}
	for o, want := range map[of]string{{Result: 2 << 20}: "the result has 2097154 bytes, and 1032192 are allowed", {Error: 2 << 20}: "éé..."} {
		f, err := h.Submit(t.Context(), o)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		_, err = f.Wait(t.Context())
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || !strings.Contains(e.Message, want) || len(e.Message) > 5000 {
			t.Errorf("%+v: %.100v", o, err)
		}
	}
	if dead := deadLetters(t, js); dead != 2 {
		t.Error("dead letters:", dead)
	}
	empty(t, js)
}

// Names of handlers and versions are as long as the servers take them, and longer ones are refused at once.
func TestNamesMayBeLong(t *testing.T) {
	t.Parallel()
	n := open(t)
	version := strings.Repeat("v", 121)
	h := cluster.Handle(n, strings.Repeat("h", 128), double, cluster.WithVersion(version), cluster.WithKeys(1))
	f, err := h.Submit(t.Context(), 1, cluster.ID(strings.Repeat("i", 128)), cluster.Key(strings.Repeat("k", 128)))
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Error(got, err)
	}
	defer func() {
		if v := recover(); v != "cluster: the handler's name and version have 251 bytes together; 250 are allowed" {
			t.Error(v)
		}
	}()
	cluster.Handle(n, strings.Repeat("h", 128), double, cluster.WithVersion(version+"v"))
}

// An error of Submit says what is wrong, also if the last question had no answer before the time was over.
func TestAStreamThatIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(1), cluster.WithLogger(newLines().logger())})
	h := cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", known)
	if err := js.DeleteStream(t.Context(), "filch_work"); err != nil {
		t.Fatal("js.DeleteStream:", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := h.Submit(ctx, 1); !errors.Is(err, jetstream.ErrNoStreamResponse) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("h.Submit:", err)
	}
	again := reopen(t, nodes[0]) // makes it anew, and the first node goes on
	f, err := cluster.Submit[int, int](t.Context(), again, "double", 1)
	for errors.Is(err, cluster.ErrUnknownHandler) { // until the first node has its lanes again
		f, err = cluster.Submit[int, int](t.Context(), again, "double", 1)
	}
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Error(got, err)
	}
}

// A node that goes on while what it hears is deleted and made anew hears what is stored then, and says once that it has missed something.
func TestANodeHearsOfStreamsThatWereMadeAnew(t *testing.T) {
	t.Parallel()
	said := newLines()
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(2), cluster.WithLogger(said.logger())})
	n := nodes[0]
	running := make(chan struct{}, 1)
	hang := cluster.Handle(n, "hang", func(ctx context.Context, _ int) (int, error) {
		running <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	})
	h := cluster.Handle(n, "double", double)
	until(t, js, "double_p1", known)
	until(t, js, "hang_p1", known)
	lost, err := h.Submit(t.Context(), 1, cluster.After(cluster.TaskID("nothing")))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	for _, stream := range []string{"KV_filch_control", "KV_filch_after"} {
		if err := js.DeleteStream(t.Context(), stream); err != nil {
			t.Fatal("js.DeleteStream:", err)
		}
	}
	other, err := cluster.Open(t.Context(), cluster.WithConn(conn(t)), cluster.WithPlaces(0)) // makes them anew, and releases nothing
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, other) })
	endless, err := hang.Submit(t.Context(), 0)
	if err != nil {
		t.Fatal("hang.Submit:", err)
	}
	<-running
	second, err := cluster.Submit[int, int](within(t), other, "double", 2, cluster.After(cluster.TaskID("first")))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if err := other.Cancel(within(t), endless.ID()); err != nil {
		t.Fatal("other.Cancel:", err)
	}
	if _, err := endless.Wait(within(t)); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("endless.Wait:", err)
	}
	said.until(t, "bucket=filch_control")
	said.until(t, "bucket=filch_after")
	first, err := h.Submit(t.Context(), 1, cluster.ID("first"))
	if got, err := wait(t, first, err); got != 2 || err != nil {
		t.Error(got, err)
	}
	if got, err := second.Wait(within(t)); got != 4 || err != nil {
		t.Error(got, err)
	}
	third, err := h.Submit(within(t), 3, cluster.After(first, second))
	if got, err := wait(t, third, err); got != 6 || err != nil {
		t.Error(got, err)
	}
	if again := strings.Count(said.String(), "is read anew"); again != 2 {
		t.Errorf("it said %d times that it reads anew", again)
	}
	select {
	case <-lost.Done():
		t.Error("a task that was deleted has ended")
	default:
	}
}

// gobCodec is a codec that not all nodes have.
type gobCodec struct{}

func (gobCodec) Name() string { return "gob" }
func (gobCodec) Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}
func (gobCodec) Unmarshal(data []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

func TestWhatCodecsCannotReadIsRefused(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), append(places(0), cluster.WithCodecs(gobCodec{})))
	cluster.Handle(nodes[0], "number", func(context.Context, int) (int, error) { return 1, nil })
	cluster.Handle(nodes[0], "channel", func(context.Context, int) (chan int, error) { return make(chan int), nil })
	for _, lane := range []string{"number_p1", "channel_p1"} {
		until(t, js, lane, func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	}
	if _, err := cluster.Submit[chan int, int](t.Context(), nodes[0], "number", nil); err == nil || !strings.Contains(err.Error(), "the argument chan int cannot be written by the codec json") {
		t.Error("cluster.Submit:", err)
	}
	word, err := cluster.Submit[string, int](t.Context(), nodes[0], "number", "word")
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	foreign, err := cluster.Submit[int, int](t.Context(), nodes[1], "number", 1)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	channel, err := cluster.Submit[int, int](t.Context(), nodes[0], "channel", 1)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	for f, want := range map[*cluster.Future[int]]string{
		word:    "the argument cannot be read as int by the codec json",
		foreign: `node n0 has no codec "gob"`,
		channel: "the result chan int cannot be written by the codec json",
	} {
		_, err := f.Wait(t.Context())
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != 1 || !strings.Contains(e.Message, want) {
			t.Error("f.Wait:", err)
		}
	}
	if dead := deadLetters(t, js); dead != 3 {
		t.Error("dead letters:", dead)
	}
	// A result is read as what Submit was told.
	f, err := cluster.Submit[int, string](t.Context(), nodes[0], "number", 1)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if _, err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "the result cannot be read as string by the codec json") {
		t.Error("f.Wait:", err)
	}
	empty(t, js)
}

// A task of a version that no node has is refused; versions run side by side.
func TestVersionsStandSideBySide(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2))
	for _, v := range []string{"", "2", "3"} {
		var opts []cluster.HandlerOption
		if v != "" {
			opts = append(opts, cluster.WithVersion(v))
		}
		cluster.Handle(nodes[0], "name", func(context.Context, int) (string, error) { return "version " + v, nil }, opts...)
		lane := strings.TrimSuffix("name@"+v, "@") + "_p1"
		until(t, js, lane, func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, v := range []string{"2", "3"} {
		f, err := cluster.Submit[int, string](ctx, nodes[0], "name", 0, cluster.OfVersion(v))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		expect(t, f, fmt.Sprint("version ", v))
	}
	if _, err := cluster.Submit[int, string](ctx, nodes[0], "name", 0, cluster.OfVersion("4")); !errors.Is(err, cluster.ErrUnknownHandler) {
		t.Error("cluster.Submit:", err)
	}
}
