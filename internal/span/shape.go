package span

// A Shape is told how the parts of a run hang together, while a Recorder finds how long they take. A strand is
// what runs one after the other. Its calls are about the one that runs, and come in the serial order. So a
// graph can be made of the run.
type Shape interface {
	// Start forgets all, and begins with the first strand.
	Start()
	// Work makes the strand longer by so many picoseconds. They may be less than 0: what measuring costs is a mean.
	Work(ps int64)
	// Fork notes a child that begins here. The strand goes on beside it.
	Fork() (child any)
	// Run makes a child the strand that runs. It may never be called: then there is no child.
	Run(child any)
	// Leave ends the strand, and goes back to the one that has called Run.
	Leave()
	// Open returns a mark for Join: how many children of the strand are not joined.
	Open() (mark int)
	// Join makes the strand wait for all children since the mark, of which at most so many run at once, or
	// any number for 0.
	Join(mark, most int)
}

// Shape makes r tell s of the run. What s takes is not counted.
func (r *Recorder) Shape(s Shape) { r.shape = s }

// shaped is what an entry has for the Shape. It is zero, and its methods do nothing, if there is none.
type shaped struct {
	mark  int // how many children were open before
	child any
}

// forkOf tells of a child that begins here.
func forkOf(r *Recorder) (s shaped) {
	if r.shape != nil {
		s = shaped{r.shape.Open(), r.shape.Fork()}
		r.last = r.now()
	}
	return s
}

// blockOf notes where a block begins.
func blockOf(r *Recorder) (s shaped) {
	if r.shape != nil {
		s.mark = r.shape.Open()
	}
	return s
}

// run tells that the child begins to run, and leave that it ends.
func (s shaped) run(r *Recorder) {
	if r.shape != nil {
		r.shape.Run(s.child)
		r.last = r.now()
	}
}

func (s shaped) leave(r *Recorder) {
	if r.shape != nil {
		r.shape.Leave()
		r.last = r.now()
	}
}

// join tells that the children since s are awaited, of which at most so many run at once.
func (s shaped) join(r *Recorder, most int) {
	if r.shape != nil {
		r.shape.Join(s.mark, most)
		r.last = r.now()
	}
}
