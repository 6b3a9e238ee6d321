package tell

import (
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/filch-go/filch/internal/tag"
)

// Stacks, as runtime.Callers has them: which frames are the user's, and what of ours these have called.

// shownFrames is how many frames messages have of a stack.
const shownFrames = 12

var (
	ourModule = strings.TrimSuffix(reflect.TypeFor[Goroutine]().PkgPath(), "/internal/tell")
	// Filch is how the names of package filch's functions begin.
	Filch = ourModule + "."
	// ofTasks is how those of package task begin.
	ofTasks = ourModule + "/internal/task."
)

// Callers returns the stack of the calling function, as far as messages have use for it.
func Callers() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(2, pcs)]
}

// isOurs reports whether a function is one of ours, and not of those that use us, as tests do. place
// begins with its file, or is that and the line.
func isOurs(function, place string) bool {
	rest, ok := strings.CutPrefix(function, ourModule)
	file, _, _ := strings.Cut(place, ":")
	return ok && (rest[0] == '.' || rest[0] == '/') && !strings.HasSuffix(file, "_test.go")
}

// theirs returns the frames of a stack that are the user's.
func theirs(pcs []uintptr) iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		for f := range tag.Frames(pcs) {
			if isOurs(f.Function, filepath.Base(f.File)) || strings.HasPrefix(f.Function, "runtime.") {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// Called returns the name of the function of ours that the user's code has called.
func Called(pcs []uintptr) (op string) {
	for f := range tag.Frames(pcs) {
		if !isOurs(f.Function, filepath.Base(f.File)) {
			break
		}
		op = f.Function
	}
	op = op[strings.LastIndex(op, "/")+1:]
	return plain(strings.ReplaceAll(op, "filch.", ""))
}

// plain returns a name as stacks have it as the documentation has it.
func plain(name string) string {
	for _, part := range []string{"(*", ")", "[...]"} {
		name = strings.ReplaceAll(name, part, "")
	}
	return name
}

// shown returns the frames of a stack that are the user's, as far as messages have them, each as line has it.
func shown(pcs []uintptr, line func(f runtime.Frame) string) (all []string) {
	for f := range theirs(pcs) {
		if len(all) == shownFrames {
			return append(all, "...")
		}
		all = append(all, line(f))
	}
	return all
}

// Stack returns the frames that are the user's, one a line.
func Stack(pcs []uintptr) string {
	all := shown(pcs, func(f runtime.Frame) string { return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line) })
	if len(all) == 0 {
		return "\ta goroutine of the pool\n"
	}
	return "\t" + strings.Join(all, "\n\t") + "\n"
}

// StackInLine is Stack for logs.
func StackInLine(pcs []uintptr) string {
	return strings.Join(shown(pcs, func(f runtime.Frame) string {
		return fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(f.File), f.Line)
	}), " < ")
}

// InTask reports whether a stack is that of code that runs a task of the pool with the given number. If it may be in a
// task that runs in place, of some pool, the traceback tells; see InPlace.
func InTask(pcs []uintptr, pool uint64) (yes, mayBeInPlace bool) {
	for number := range tag.Numbers(tag.Frames(pcs)) {
		if number == pool {
			return true, false
		}
	}
	for frame := range tag.Frames(pcs) {
		if frame.Function == inPlaceMethod {
			return false, true
		}
	}
	return false, false
}

// IsWithoutPlace reports whether a stack is that of something that runs in a pool without a slot.
func IsWithoutPlace(pcs []uintptr) bool {
	for f := range tag.Frames(pcs) {
		if f.Function == Filch+"Blocking" || f.Function == Filch+"(*Worker).Blocking" || f.Function == ofTasks+"(*Context).Blocking" || strings.HasPrefix(f.Function, longMethod) {
			return true
		}
	}
	return false
}
