package filch

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/tell"
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
		s += " of " + tell.Function("", p.Func)
	}
	if p.Total > 0 {
		s += fmt.Sprintf(", %d of %d done", p.Done.Load(), p.Total)
	}
	return s
}
