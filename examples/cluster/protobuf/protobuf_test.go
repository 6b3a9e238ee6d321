package protobuf_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/examples/cluster/protobuf"
)

// The argument and the result of a handler are messages. The types here are of those that the library has; those that
// protoc generates are used in the same way.
func ExampleCodec() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	n, err := cluster.Open(ctx, cluster.WithServer(embedded.Server{Dir: dir, NoSync: true}), cluster.WithCodecs(protobuf.Codec{}))
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close(ctx)

	later := cluster.Handle(n, "later", func(_ context.Context, d *durationpb.Duration) (*timestamppb.Timestamp, error) {
		return timestamppb.New(time.Unix(0, 0).Add(d.AsDuration())), nil
	})
	f, err := later.Submit(ctx, durationpb.New(90*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	at, err := f.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(at.AsTime().Format(time.TimeOnly))
	// Output: 00:01:30
}

// open opens a node with a server of its own.
func open(t *testing.T) *cluster.Node {
	t.Helper()
	n, err := cluster.Open(t.Context(), cluster.WithServer(embedded.Server{Dir: t.TempDir(), NoSync: true}), cluster.WithCodecs(protobuf.Codec{}))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			t.Error("n.Close:", err)
		}
	})
	return n
}

// A message without any field that is set has no bytes, and is a message all the same.
func TestAnEmptyMessageIsOne(t *testing.T) {
	h := cluster.Handle(open(t), "same", func(_ context.Context, s *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		if s == nil {
			return nil, errors.New("nil")
		}
		return s, nil
	})
	for _, text := range []string{"", "text"} {
		f, err := h.Submit(t.Context(), wrapperspb.String(text))
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		if got, err := f.Wait(t.Context()); err != nil || !proto.Equal(got, wrapperspb.String(text)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	n := open(t)
	cluster.Handle(n, "count", func(_ context.Context, n int) (int, error) { return n, nil })
	cluster.Handle(n, "message", func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		return nil, errors.New("it was called")
	})
	if _, err := cluster.Submit[int, int](t.Context(), n, "count", 1); err == nil || !strings.Contains(err.Error(), "int is no message") {
		t.Error("cluster.Submit:", err)
	}
	for handler, want := range map[string]string{"count": "int is no pointer to a message", "message": "invalid UTF-8"} {
		f, err := cluster.Submit[*wrapperspb.BytesValue, *wrapperspb.StringValue](t.Context(), n, handler, wrapperspb.Bytes([]byte{0xff}))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		if _, err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", handler, err)
		}
	}
}
