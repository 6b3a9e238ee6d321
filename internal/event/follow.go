package event

// A Follower reads what a Recorder of package trace records, part by part, for package live.
type Follower interface {
	// Next returns what has happened since it was called last. Of more than most events it takes some
	// of the latest of each worker, and counts the others. It is for one goroutine.
	Next(most int) *Part
}

// A Part is what has happened from one moment to another.
type Part struct {
	At      int64 // the end, in nanoseconds since the program began
	Workers int   // one more than the greatest number so far
	Spans   []Span
	Open    []Span // those that go on, without an end
	Arrows  []Arrow
	Steals  map[[2]int]int // how many forks and tasks a worker took from another, also by events that were left out
	Marks   []Mark
	Counts  []Count // in their order
	Gaps    []Gap
	Read    int    // events
	Lost    uint64 // events that were overwritten or left out
}

// A Span is something that a worker did. Sort is one of Sorts.
type Span struct {
	Sort, Worker, Depth int
	Begin, End          int64
	Name                string
	Crashed             bool
}

// An Arrow is a steal: a fork that was published by one worker at Out, and taken by another at In, or N tasks that
// were taken from a queue.
type Arrow struct {
	From, To int
	Out, In  int64 // Out is 0 if it is not known
	N        int   // how many
}

// A Mark is a moment of a worker, or of the pool if the worker is -1.
type Mark struct {
	Worker int
	At     int64
	Name   string
}

// A Count is how many tasks are queued at a worker, or in the global queue if the worker is -1.
type Count struct {
	Worker int
	At     int64
	N      uint64
}

// A Gap is a time of which events of a worker are lost.
type Gap struct {
	Worker     int
	Begin, End int64
}

// follow is set by package trace, and sorts with it.
var (
	follow func(recorder any) Follower
	sorts  []string
)

// Followed sets how a Follower of a Recorder is made, and what sorts of spans there are. Package trace
// calls it when the program begins.
func Followed(sortsOfSpans []string, by func(recorder any) Follower) {
	sorts, follow = sortsOfSpans, by
}

// Follow returns a Follower of a Recorder.
func Follow(recorder any) Follower { return follow(recorder) }

// Sorts returns what sorts of spans there are.
func Sorts() []string { return sorts }
