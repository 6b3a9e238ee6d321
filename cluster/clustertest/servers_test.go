package clustertest_test

import (
	"testing"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

func TestServersKeepTasksWhenAllAreKilled(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, ...clustertest.ServerOption) *clustertest.Servers{"one": clustertest.Server, "three": clustertest.Three} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			n := openAt(t, s.URL(), cluster.WithReplicas(s.Len()))
			h := cluster.Handle(n, "double", double)
			for range 2 {
				f, err := h.Submit(t.Context(), 21, cluster.Durable())
				if err != nil {
					t.Fatal(err)
				}
				if got, err := f.Wait(t.Context()); got != 42 || err != nil {
					t.Fatal(got, err)
				}
				for i := range s.Len() {
					s.Kill(i)
				}
				for i := range s.Len() {
					if err := s.Restart(t.Context(), i); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// openAt opens a node at servers, which is closed when the test ends.
func openAt(t testing.TB, url string, opts ...cluster.Option) *cluster.Node {
	t.Helper()
	n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithURL(url)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	return n
}
