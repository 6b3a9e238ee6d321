package pull_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/cluster/internal/pull"
)

func TestARequestSaysWhatIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		r, ended := a.begin(t)
		a.finish(t, ended)
		if r.subject != "$JS.API.CONSUMER.MSG.NEXT.work.job" || r.body != `{"batch":1,"expires":3600000000000,"group":"tiers","priority":3}` {
			t.Errorf("%+v", r)
		}
	})
}

// A request for what there is lapses at the servers: one without a time would stay there while its consumer may give nothing away.
func TestARequestForWhatThereIsHasATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		r, ended := a.ask(t, func(ctx context.Context) (int, error) { return a.Once(ctx, 2, 5*time.Millisecond, a.each) })
		if r.body != `{"batch":2,"expires":5000000,"no_wait":true,"group":"tiers","priority":3}` {
			t.Error(r.body)
		}
		a.task("task")
		a.status(r, "408 Request Timeout")
		if e := <-ended; e != (end{1, nil}) {
			t.Errorf("%+v", e)
		}
	})
}

// What comes when no request is made is passed on without one.
func TestLatePassesOnWhatHasCome(t *testing.T) {
	a := newAsking(t)
	first, ended := a.begin(t)
	a.finish(t, ended)
	a.task("late")
	a.status(first, "408 Request Timeout")
	if err := a.nc.Flush(); err != nil {
		t.Fatal("a.nc.Flush:", err)
	}
	a.Late(a.each)
	if !slices.Equal(a.tasks, []string{"late"}) {
		t.Errorf("passed on: %q", a.tasks)
	}
	a.Late(a.each)
	if len(a.tasks) != 1 {
		t.Errorf("passed on: %q", a.tasks)
	}
}

// A request that Again has ended stays at the servers, and they say later that it is over.
func TestWhatIsSaidOfAnEarlierRequestEndsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		first, ended := a.begin(t)
		a.again <- struct{}{}
		if e := <-ended; e != (end{0, nil}) {
			t.Errorf("%+v", e)
		}
		second, ended := a.begin(t)
		if first.address == second.address {
			t.Error("the address of both requests is", first.address)
		}
		a.status(first, "408 Request Timeout")
		a.status(first, "409 Consumer Deleted")
		a.status(second, "100 Idle Heartbeat")
		a.finish(t, ended)
	})
}

// The servers forget a request whose connection is lost, and say nothing of it. What was lost before a request does not end it.
func TestARequestEndsWhenItsConnectionIsReplaced(t *testing.T) {
	a := newAsking(t)
	for range 5 {
		_, ended := a.begin(t)
		a.cut()
		if e := <-ended; e != (end{0, nil}) {
			t.Fatalf("%+v", e)
		}
		a.replaced(t)
		a.cut()
		a.replaced(t)
		_, ended = a.begin(t)
		a.finish(t, ended)
	}
}

func TestAgainBeforeARequestDoesNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		a.again <- struct{}{}
		_, ended := a.begin(t)
		synctest.Wait()
		select {
		case e := <-ended:
			t.Fatalf("it has ended: %+v", e)
		default:
		}
		a.finish(t, ended)
	})
}

func TestWhatTheServersSayEndsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		for text, want := range map[string]string{
			"404 No Messages":         "",
			"408 Request Timeout":     "",
			"409 Exceeded MaxWaiting": "",
			"409 Consumer Deleted":    "409 Consumer Deleted",
			"503":                     "503 there is no leader of the consumer",
		} {
			e := a.pullSaid(t.Context(), func(r request) { a.task("task"); a.status(r, text) })
			if e.got != 1 {
				t.Errorf("%s: %+v", text, e)
			}
			refusal, ok := errors.AsType[*pull.Refusal](e.err)
			if want == "" && e.err != nil || want != "" && (!ok || refusal.Status+" "+refusal.Text != want || !strings.HasSuffix(e.err.Error(), want)) {
				t.Errorf("%s: %v", text, e.err)
			}
		}
	})
}

// A message that was stored with a status of its own is a task like others.
func TestATaskMayHaveAStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		e := a.pullSaid(t.Context(), func(request) {
			a.say("filch.work.job.p1", "NATS/1.0 404 No Messages", "one")
			a.say("filch.work.job.p1", "NATS/1.0\r\nStatus: 409", "two")
		})
		if e != (end{2, nil}) || !slices.Equal(a.tasks, []string{"one", "two"}) {
			t.Errorf("%+v %q", e, a.tasks)
		}
	})
}

// Servers that say nothing are not waited for much longer than the request, and not after the end of the context.
func TestARequestWithoutAnAnswerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking(t)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*hour)
		defer cancel()
		if e := a.pullSaid(ctx, func(request) {}); e != (end{0, nil}) || time.Since(begin) != hour+2*time.Second {
			t.Errorf("%+v after %v", e, time.Since(begin))
		}
		why := errors.New("the end")
		canceled, stop := context.WithCancelCause(t.Context())
		if e := a.pullSaid(canceled, func(request) { stop(why) }); e != (end{0, why}) {
			t.Errorf("%+v", e)
		}
	})
}

// Close waits until the server has confirmed the end of the subscription, so that what was on its way is passed on as well.
func TestCloseLosesNoTask(t *testing.T) {
	a := newAsking(t)
	first, ended := a.begin(t)
	a.finish(t, ended)
	a.task("arrived")
	a.status(first, "408 Request Timeout")
	a.leaving = func() { a.task("on its way") }
	a.Close(a.each)
	if !slices.Equal(a.tasks, []string{"arrived", "on its way"}) {
		t.Errorf("passed on: %q", a.tasks)
	}
}

func TestCloseAfterItsConnectionPassesOnWhatArrived(t *testing.T) {
	a := newAsking(t)
	first, ended := a.begin(t)
	a.finish(t, ended)
	a.task("arrived")
	a.status(first, "408 Request Timeout")
	if err := a.nc.Flush(); err != nil {
		t.Fatal("a.nc.Flush:", err)
	}
	a.nc.Close()
	a.Close(a.each)
	if !slices.Equal(a.tasks, []string{"arrived"}) {
		t.Errorf("passed on: %q", a.tasks)
	}
}
