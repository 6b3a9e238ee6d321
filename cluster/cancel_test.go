package cluster

import (
	"testing"
	"time"
)

func TestWhatWasCanceledLongAgoIsForgotten(t *testing.T) {
	now := time.Now()
	c := canceled{ids: map[token]time.Time{}}
	c.set("old", now.Add(-controlTTL-time.Second))
	c.set("new", now.Add(-controlTTL+time.Second))
	c.set("again", now)
	c.remove("again")
	c.forgetBefore(now.Add(-controlTTL))
	if c.has("old") || !c.has("new") || c.has("again") || len(c.ids) != 1 {
		t.Error(c.ids)
	}
}
