package poll

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAskEndsWhenItIsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		ask := func() (bool, any) { asked++; return asked == 5, asked }
		if so, is := Ask(time.Second, ask); !so || is != 5 {
			t.Error("Ask(time.Second, ask):", so, is)
		}
		Until(t, time.Second, "it is so", func() (bool, any) { return true, nil })
	})
}

func TestAskEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if so, is := Ask(time.Second, func() (bool, any) { return false, "no" }); so || is != "no" {
			t.Error("Ask(time.Second, …):", so, is)
		}
		if took := time.Since(begin); took < time.Second || took > time.Second+10*time.Millisecond {
			t.Error("it took", took)
		}
	})
}
