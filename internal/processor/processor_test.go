package processor

import (
	"fmt"
	"os"
	"runtime"
	"testing"
)

// The current processor is one of the machine.
func TestCurrentIsAProcessorOfTheMachine(t *testing.T) {
	at := Current()
	if at < 0 {
		if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "386" || runtime.GOARCH == "arm64") {
			t.Errorf("it is %d", at)
		}
		return
	}
	if _, err := os.Stat("/sys/devices/system/cpu"); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d", at)); err != nil {
		t.Error("os.Stat(…):", err)
	}
}
