// Package history judges what was seen of concurrent calls.
package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Event is a call, or how it returned: 'u' is a push, 'o' a pop, 's' a steal,
// 'h' a steal of half, 'l' a look whether there is something.
type Event struct {
	Op        rune
	Value     int
	Half      string // the values, as characters
	OK, Retry bool
}

func (e Event) String() string {
	return fmt.Sprintf("%c%d%q%v%v", e.Op, e.Value, e.Half, e.OK, e.Retry)
}

// Deque is what happened to a deque.
type Deque struct{ ops []porcupine.Operation }

// Add adds a call by a client, from one time to another.
func (h *Deque) Add(client int, call, end int64, in, out Event) {
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// Key tells histories apart: which call or return came after which.
func (h *Deque) Key() string {
	type at struct {
		time int64
		what string
	}
	var all []at
	for _, o := range h.ops {
		all = append(all, at{o.Call, fmt.Sprint("(", o.ClientId, o.Input)}, at{o.Return, fmt.Sprint(")", o.ClientId, o.Output)})
	}
	slices.SortStableFunc(all, func(a, b at) int { return int(a.time - b.time) })
	var b strings.Builder
	for _, a := range all {
		b.WriteString(a.what)
	}
	return b.String()
}

// model is a deque in one thread. The state is the values as a string.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(string), input.(Event), output.(Event)
		switch {
		case in.Op == 'u':
			return true, s + string(rune(in.Value))
		case in.Op == 'l': // 0 only if there is nothing
			return out.OK || s == "", s
		case in.Op == 'h':
			rest, ok := strings.CutPrefix(s, out.Half)
			return ok && len(out.Half) == (len(s)+1)/2, rest
		case out.Retry:
			return true, s
		case !out.OK:
			return s == "", s
		case s == "":
			return false, s
		case in.Op == 'o':
			return rune(s[len(s)-1]) == rune(out.Value), s[:len(s)-1]
		default:
			return rune(s[0]) == rune(out.Value), s[1:]
		}
	},
}

// Check returns an error unless the history could be that of a deque in one
// thread: unless it is linearizable.
func (h *Deque) Check() error {
	if porcupine.CheckOperations(model, h.ops) {
		return nil
	}
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range h.ops {
		in, out := o.Input.(Event), o.Output.(Event)
		fmt.Fprintf(&b, "  %3d to %3d, thread %d: ", o.Call, o.Return, o.ClientId)
		switch in.Op {
		case 'u':
			fmt.Fprintf(&b, "push %d\n", in.Value)
		case 'o':
			fmt.Fprintf(&b, "pop: %d, %v\n", out.Value, out.OK)
		case 'h':
			fmt.Fprintf(&b, "steal half: %q\n", out.Half)
		case 'l':
			fmt.Fprintf(&b, "is there something: %v\n", out.OK)
		default:
			fmt.Fprintf(&b, "steal: %d, %v (retry: %v)\n", out.Value, out.OK, out.Retry)
		}
	}
	return errors.New("not linearizable:\n" + b.String())
}
