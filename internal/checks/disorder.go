package checks

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/tell"
)

// Two goroutines that use one worker bring it into states that nothing else does. Where the engine finds one, or panics
// because of one, the message names the mistake.

// usedTwice says what leaves a worker in a state that only two goroutines can bring it into.
func usedTwice(state string) string {
	return state + ": two goroutines use one Worker, Frame or Link; in a function that is forked, use the Worker that it gets, " +
		"not that of the function around it; WithChecks, or FILCH_CHECKS=1, says where"
}

// inDisorder is the value of a panic in the engine itself: no argument of a user gets there.
type inDisorder struct{ error }

func (e inDisorder) Error() string {
	return "filch: " + usedTwice("forks are in disorder, "+e.error.Error())
}

func (e inDisorder) Unwrap() error { return e.error }

// OrDisorder returns v, the value of a panic whose stack is still there, or what to tell if the engine has panicked.
func OrDisorder(v any) any {
	err, ok := v.(runtime.Error)
	if !ok {
		return v
	}
	panicked := false
	for f := range tag.Frames(tell.Callers()) {
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case !panicked || strings.HasPrefix(f.Function, "runtime."):
		case strings.HasPrefix(f.Function, enginePackage) || strings.HasPrefix(f.Function, tell.Filch+"(*asyncs)."):
			return inDisorder{err}
		default:
			return v
		}
	}
	return v
}

var enginePackage = reflect.TypeFor[engine.Worker]().PkgPath() + "."

// AwaitedTwice panics, since a fork of the function at entry is.
func AwaitedTwice(entry uintptr) {
	panic("filch: " + usedTwice("a fork of "+tell.Function("", entry)+" is awaited twice"))
}

// NotJoined returns the message for a body, the function at entry, that has left n forks open.
func NotJoined(entry uintptr, n int) string {
	name := tell.Function("", entry)
	if strings.HasPrefix(name, tell.Filch+"init.") { // of Join, which joins all of its own
		return "filch: " + usedTwice(fmt.Sprintf("a Join has left %d forks", n))
	}
	return fmt.Sprintf("filch: %s returned with %d of its forks not joined: Join each before the body returns", name, n)
}

// NotItsOwn is NotJoined inside of a recursion, where n is negative for a body that has joined forks of its
// caller.
func NotItsOwn(entry uintptr, n int) string {
	if n > 0 {
		return NotJoined(entry, n)
	}
	return fmt.Sprintf("filch: %s joined %d of its caller's forks: Join each in the call that has made it", tell.Function("", entry), -n)
}
