package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/explore/history"
	"github.com/filch-go/filch/internal/explore/sched"
	"github.com/filch-go/filch/internal/explore/subject/deque"
)

// dequeProgram is a deque with some values in it, and what owner and thieves do
// then, as letters: u push, o pop, L length, s steal, t try to steal, h steal half,
// l length.
type dequeProgram struct {
	before  string // by the owner, alone
	threads []string
}

// The ring has 4 slots at first. A program is small: what goes wrong with
// three threads and a few operations goes wrong.
var dequePrograms = []dequeProgram{
	{"u", []string{"o", "s"}},         // the last value
	{"u", []string{"o", "s", "s"}},    //
	{"uu", []string{"oo", "s"}},       // the last but one
	{"uu", []string{"oo", "s", "s"}},  //
	{"u", []string{"ouo", "s"}},       // a thief that takes its claim back meets another value
	{"u", []string{"ouo", "ss"}},      //
	{"", []string{"uo", "s"}},         // from nothing
	{"", []string{"uuo", "ss"}},       //
	{"uuu", []string{"u", "s"}},       // full, but for one slot
	{"uuu", []string{"uo", "s", "s"}}, //
	{"uus", []string{"uuu", "s"}},     // round the end of the ring
	{"uuus", []string{"uuo", "ss"}},   //
	{"uuuu", []string{"u", "s", "s"}},
	{"uuuu", []string{"uo", "ss"}},            // growth
	{"uuuuuuuuusssssss", []string{"oo", "s"}}, // shrinking
	{"uuuuuuuuu", []string{"ooooooo", "s"}},   //
	{"uu", []string{"o", "t", "t"}},
	{"u", []string{"ouL", "s"}},
	{"u", []string{"ou", "s", "l"}},
	{"uu", []string{"oou", "s", "l"}},
	{"uuu", []string{"oo", "h"}},
	{"uuu", []string{"ou", "h", "s"}},
}

// deepDequePrograms take seconds to minutes each.
var deepDequePrograms = []dequeProgram{
	{"uu", []string{"ouo", "s", "s", "s"}},
	{"uuu", []string{"uouo", "ss", "s"}},
	{"uuuu", []string{"uoou", "ss", "s"}},
	{"uus", []string{"uuoo", "ss", "s"}},
	{"uuu", []string{"uoo", "h", "s"}},
}

func init() { parts = append(parts, dequeExplored) }

func dequeExplored(deep, _ bool) (all []program) {
	programs := dequePrograms
	if deep {
		programs = append(slices.Clone(programs), deepDequePrograms...)
	}
	for _, kind := range []string{"ChaseLev", "Hybrid", "Mutex"} {
		for _, p := range programs {
			name := fmt.Sprintf("%s/%s/%s", kind, p.before, strings.Join(p.threads, "|"))
			all = append(all, program{name, p.explored(kind), -1})
		}
	}
	return all
}

func (p dequeProgram) explored(kind string) sched.Program {
	known := map[string]error{}
	return func(r *sched.Run) func() error {
		var o *deque.Owner[int]
		var th *deque.Thief[int]
		switch kind {
		case "ChaseLev":
			o, th = deque.NewChaseLev[int]()
		case "Hybrid":
			o, th = deque.NewHybrid[int]()
		case "Mutex":
			o, th = deque.NewMutex[int]()
		}
		var h history.Deque
		next := 0
		do := func(client int, what rune) {
			call := r.Now()
			var in, out history.Event
			switch in.Op = what; what {
			case 'u':
				next++
				in.Value = next
				o.Push(next)
			case 'o':
				out.Value, out.OK = o.Pop()
			case 's', 't':
				var res deque.Result
				if what == 's' {
					out.Value, res = th.Steal()
				} else {
					out.Value, res = th.TrySteal(0)
				}
				in.Op = 's'
				out.OK, out.Retry = res == deque.Success, res == deque.Retry
			case 'l', 'L': // Len of a thief, and of the owner
				in.Op = 'l'
				if what == 'L' {
					out.OK = o.Len() > 0
				} else {
					out.OK = th.Len() > 0
				}
			case 'h': // in one step only if all is under the lock
				dst := make([]int, 16)
				n, _ := th.StealHalf(dst)
				if kind == "Mutex" {
					for _, v := range dst[:n] {
						out.Half += string(rune(v))
					}
					break
				}
				for _, v := range dst[:n] {
					h.Add(client, call, r.Now(), history.Event{Op: 's'}, history.Event{Value: v, OK: true})
				}
				return
			}
			h.Add(client, call, r.Now(), in, out)
		}
		for _, what := range p.before {
			do(0, what)
		}
		for i, ops := range p.threads {
			r.Go(func() {
				for _, what := range ops {
					do(i, what)
				}
			})
		}
		return func() error {
			for range next + 1 { // whatever is left
				do(0, 'o')
			}
			key := h.Key()
			err, ok := known[key]
			if !ok {
				err = h.Check()
				known[key] = err
			}
			return err
		}
	}
}
