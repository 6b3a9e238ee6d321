package clustertest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// What makes no sense is a panic of Handle that says what.
func TestHandlersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithPlaces(0))
	cluster.Handle(n, "there", double)
	cluster.Handle(n, "there", double, cluster.WithVersion("2"))
	handle := func(name string, opts ...cluster.HandlerOption) func() {
		return func() { cluster.Handle(n, name, double, opts...) }
	}
	for want, f := range map[string]func(){
		"nil argument":                         func() { cluster.Handle[int, int](n, "nil", nil) },
		"Handle with a nil argument":           func() { cluster.Handle(nil, "nil", double) },
		"name of the handler is empty":         handle(""),
		`"a.b" contains '.'`:                   handle("a.b"),
		"the node has a handler there":         handle("there"),
		"the node has a handler there@2":       handle("there", cluster.WithVersion("2")),
		"version of a handler is empty":        handle("a", cluster.WithVersion("")),
		"nil HandlerOption":                    handle("a", nil),
		"WithLimit(0)":                         handle("a", cluster.WithLimit(0)),
		"WithNodeLimit(0)":                     handle("a", cluster.WithNodeLimit(0)),
		"WithKeys(257)":                        handle("a", cluster.WithKeys(257)),
		"WithKeys(0)":                          handle("a", cluster.WithKeys(0)),
		"both a limit and keys":                handle("a", cluster.WithKeys(1), cluster.WithLimit(1)),
		"WithStealAbove(0)":                    handle("a", cluster.WithStealAbove(0)),
		"WithAckWait(999ms)":                   handle("a", cluster.WithAckWait(999*time.Millisecond)),
		"WithSilence(0s)":                      handle("a", cluster.WithSilence(0)),
		"both WithLocalFirst and WithRetry":    handle("a", cluster.WithLocalFirst(), cluster.WithRetry(cluster.Retry{Attempts: 2})),
		"both WithLocalFirst and a limit, for": handle("a", cluster.WithLimit(1), cluster.WithLocalFirst()),
		"WithLocalFirst and a limit":           handle("a", cluster.WithNodeLimit(1), cluster.WithLocalFirst()),
		"Retry.Attempts":                       handle("a", cluster.WithRetry(cluster.Retry{Attempts: -1})),
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, want) {
					t.Errorf("%s, and not %s", v, want)
				}
			}()
			f()
		}()
	}
}

// badCodec has a name that tasks cannot carry.
type badCodec struct{ cluster.Codec }

func (badCodec) Name() string { return "a b" }

// What makes no sense is an error of Open that says what.
func TestNodesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]cluster.Option{
		"a nil Option":                   nil,
		"name of the cluster":            cluster.WithName("a.b"),
		"name of the node":               cluster.WithNode(""),
		"WithURL with an empty URL":      cluster.WithURL(""),
		"WithConn with a nil connection": cluster.WithConn(nil),
		"WithServer with a nil Server":   cluster.WithServer(nil),
		"WithPool with a nil pool":       cluster.WithPool(nil),
		"WithPlaces(-1)":                 cluster.WithPlaces(-1),
		"WithThreshold(-1)":              cluster.WithThreshold(-1),
		"tiers are 0 to 9":               cluster.WithTier(10),
		"WithCodecs with a nil codec":    cluster.WithCodecs(cluster.Codec(nil)),
		"name of a codec":                cluster.WithCodecs(badCodec{cluster.JSON()}),
		"it is 1, 3 or 5":                cluster.WithReplicas(2),
		"WithQueueLimit(0)":              cluster.WithQueueLimit(0, filch.Block),
		"takes Block or Reject":          cluster.WithQueueLimit(1, filch.Overflow(99)),
		"WithResultsFor(1ms)":            cluster.WithResultsFor(time.Millisecond),
		"WithDeadFor(1ms)":               cluster.WithDeadFor(time.Millisecond),
		"WithLogger with a nil logger":   cluster.WithLogger(nil),
		"WithClock with a nil function":  cluster.WithClock(nil),
	} {
		n, err := cluster.Open(t.Context(), o, cluster.WithURL("nats://127.0.0.1:1"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %s", err, want)
		}
		if n != nil {
			closeNode(t, n)
		}
	}
}
