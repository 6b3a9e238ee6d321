package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// The clock counts nanoseconds, from when the program began.
func TestClockCountsFromTheBeginning(t *testing.T) {
	if InBubble() {
		t.Error("this is no bubble")
	}
	if now := Now(); now < 0 || now > int64(time.Since(epoch)) {
		t.Errorf("the program began %v ago", time.Duration(now))
	}
}

// In a bubble it goes by the bubble's time, also where that is less than the program's.
func TestClockIsThatOfTheBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if !InBubble() {
			t.Error("this is a bubble")
		}
		begin := Now()
		time.Sleep(time.Hour)
		if took := time.Duration(Now() - begin); took != time.Hour {
			t.Errorf("an hour took %v", took)
		}
	})
}
