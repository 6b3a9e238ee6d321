package filch

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// Progress is what a computation is and how far it has come, for [Pool.Dump]; see
// [Worker.Show]. Set the fields before Show. Only Done may change later, by its atomic
// methods.
type Progress struct {
	Name  string       // such as "loop"
	Func  uintptr      // the function that it calls, as reflect.Value.Pointer returns it; 0 if there is none
	Total int64        // how many steps it has; 0 if that is not known
	Done  atomic.Int64 // how many of them are done
}

// String describes the computation, as Dump does.
func (p *Progress) String() string {
	s := p.Name
	if p.Func != 0 {
		s += " of " + nameOfFunction("", p.Func)
	}
	if p.Total > 0 {
		s += fmt.Sprintf(", %d of %d done", p.Done.Load(), p.Total)
	}
	return s
}

// nameOfFunction returns the name, or if there is none, that of the function at pc.
func nameOfFunction(name string, pc uintptr) string {
	if name == "" && pc != 0 {
		if fn := runtime.FuncForPC(pc); fn != nil {
			return fn.Name()
		}
	}
	return name
}

// count returns n things, in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// round leaves three or four digits of d.
func round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
