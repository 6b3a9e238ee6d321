//go:build !race

package race

// What follows has no use without the detector. Calls of it stand behind Enabled.

const (
	MaxOpen = 0
	AtRun   = ""
)

func Touch(*int) {}

type Child struct{}

func Open() Child            { return Child{} }
func (Child) IsOpen() bool   { return false }
func (Child) Run(func())     {}
func (Child) Prepare(func()) {}
func (Child) Wait()          {}
func (Child) Pause()         {}
func (Child) Ended() bool    { return true }
func (Child) Drop()          {}
func Aside(f func())         { f() }
func Disable()               {}
func Enable()                {}
func Release[T any](*T)      {}
func Acquire[T any](*T)      {}

func AddLogical(int64) {}
func Logical() bool    { return false }

type Queue struct{}

func (*Queue) Len() int64        { return 0 }
func (*Queue) Add(Child, any)    {}
func (*Queue) Remove(Child) bool { return false }
func (*Queue) Take() any         { return nil }

type Ref[T any] struct{}

func (*Ref[T]) Set(*T)  {}
func (*Ref[T]) Get() *T { return nil }
