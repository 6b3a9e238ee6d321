// Package tell has what messages of a pool say of functions, stacks and goroutines: whose frame is whose, where a
// goroutine is and what it waits for, and which tasks it runs. See README.md.
package tell

import (
	"fmt"
	"runtime"
	"time"
)

// Function returns name, or if there is none, that of the function at pc.
func Function(name string, pc uintptr) string {
	if name == "" && pc != 0 {
		if fn := runtime.FuncForPC(pc); fn != nil {
			return fn.Name()
		}
	}
	return name
}

// Count returns n things, in words.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// Round leaves three or four digits of d.
func Round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// Address returns how a traceback prints a pointer.
func Address(pointer any) string { return fmt.Sprintf("%p", pointer) }

// WithoutName is what a task is called that has no name.
const WithoutName = "a task without a name"
