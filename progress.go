package filch

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/tell"
)

// Progress describes a computation and how far it has come, for [Pool.Dump]; see [Worker.Show]. Set the fields before Show;
// afterwards only Done may change, by its atomic methods.
type Progress struct {
	Name  string       // such as "loop"
	Func  uintptr      // the function that it calls, as from reflect.Value.Pointer; 0 if none
	Total int64        // number of steps; 0 if unknown
	Done  atomic.Int64 // steps done
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
