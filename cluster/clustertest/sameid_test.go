package clustertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/poll"
)

// A task whose ID another had that waited for others, and that has just been released, is stored. While the other waits, it is an error.
func TestAnIDMayWaitForOthersWhenTheFirstIsReleased(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "double", double)
	until(t, js, "double_p1", known)
	kv, err := js.KeyValue(t.Context(), "filch_after")
	if err == nil {
		_, err = kv.Create(t.Context(), "met.x", []byte(`{"size":1,"of":"others"}`)) // the task was removed before
	}
	if err != nil {
		t.Fatal("kv.Create:", err)
	}
	submit := func(n *cluster.Node, dep string) error {
		_, err := cluster.Submit[int, int](within(t), n, "double", 1, cluster.ID("x"), cluster.After(cluster.TaskID(dep)))
		return err
	}
	reads := 0
	var read func()
	read = func() {
		if reads++; reads < 3 { // Create has found one, and the node has seen that it is another's
			mid.before("$JS.API.DIRECT.GET.KV_filch_after.$KV.filch_after.met.x", read)
		} else if err := kv.Purge(t.Context(), "met.x"); err != nil {
			t.Error("kv.Purge:", err)
		}
	}
	mid.before("$JS.API.DIRECT.GET.KV_filch_after.$KV.filch_after.met.x", read)
	if err := submit(a, "one"); err != nil {
		t.Error("submit:", err)
	}
	mid.once(t)
	if err := submit(b, "one"); err != nil {
		t.Error("the same again:", err)
	}
	if err := submit(b, "another"); err == nil || !strings.Contains(err.Error(), "waits already, and for others") {
		t.Error("while it waits:", err)
	}
}

// A task that another process has released while this one stores it again does not wait for ever.
func TestATaskThatIsReleasedAsItIsStoredAgainEnds(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "double", double)
	until(t, js, "double_p1", known)
	submit := func(n *cluster.Node, id string, opts ...cluster.SubmitOption) *cluster.Future[int] {
		f, err := cluster.Submit[int, int](within(t), n, "double", 21, append(opts, cluster.ID(id))...)
		if err != nil {
			t.Errorf("Submit of %s: %v", id, err)
		}
		return f
	}
	gone := func(what, subject string) {
		poll.Until(t, time.Minute, what, func() (bool, any) { // nodes look for what was lost each 5 s
			n, err := countOf(t.Context(), js, "KV_filch_after", subject)
			return err == nil && n == 0, err
		})
	}
	after := cluster.After(cluster.TaskID("one"))
	mid.before("$KV.filch_after.task.x", func() { // all else of it is stored
		x := submit(b, "x", after)
		submit(b, "one")
		if v, err := wait(t, x, nil); v != 42 || err != nil {
			t.Errorf("the first x ended with %d and %v, want 42", v, err)
		}
		gone("the first x waits no longer", "$KV.filch_after.met.x")
	})
	x := submit(a, "x", after)
	mid.once(t)
	if v, err := wait(t, x, nil); v != 42 || err != nil {
		t.Errorf("x ended with %d and %v, want 42", v, err)
	}
	gone("nothing of x is left", "$KV.filch_after.task.x")
}
