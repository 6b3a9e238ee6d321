package filch

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/filch-go/filch/internal/tell"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tag"
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

// orDisorder returns v, the value of a panic whose stack is still there, or what to tell if the engine has panicked.
func orDisorder(v any) any {
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
