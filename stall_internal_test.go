package filch

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
)

var updateTranscripts = flag.Bool("update", false, "write the transcripts into testdata/transcripts, instead of comparing them")

// The transcripts of internal/explore have no time. This one is about time, so it is made in a
// bubble, by a program in which no two goroutines have anything to tell at once.
const stallTranscript = `# The watch for stalls adds a place.
#
# worker 0   runs the task "waits", which waits on a channel, where the pool cannot see it
# pool       is that of one place, whose watch looks every 25 ms
# worker 1   is woken for the place that the watch adds, and runs the task "queued"
#
# The clock is that of a bubble of testing/synctest. The watch acts when no queued task has started for
# 100 ms. When nothing is queued any more, it takes the place back. At 400 ms, somebody lets the
# task "waits" end, and closes the pool.

`

// A stall is told of event by event, at the same times on every run.
func TestTranscriptOfAStall(t *testing.T) {
	s := &script{}
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), withHook(timed{s, clock.Now()}))
		time.Sleep(100 * time.Millisecond)
		over := make(chan bool)
		p.Go(context.Background(), func(context.Context) { <-over }, Named("waits"))
		synctest.Wait()
		p.Go(context.Background(), func(context.Context) {}, Named("queued"))
		time.Sleep(300 * time.Millisecond)
		close(over)
		synctest.Wait()
		p.Close()
	})
	got := []byte(stallTranscript + strings.Join(s.lines, "\n") + "\n")
	file := filepath.Join("testdata", "transcripts", "stall.txt")
	if *updateTranscripts {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal("os.WriteFile(file, got, 0o666):", err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v; it is now\n%s\nand was\n%s\nIf that is meant, -update writes it.", err, got, want)
	}
}

// timed is a hook that writes lines with the time since it was made.
type timed struct {
	*script
	begin int64
}

func (h timed) Event(e event.Event) {
	e.At -= h.begin
	h.say(e.String())
}
