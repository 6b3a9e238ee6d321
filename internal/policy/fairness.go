package policy

// Fairness lets what came from outside have its turn now and then, although a worker has
// tasks of its own. The zero Fairness has just given it one.
type Fairness struct{ own int }

// Every is how many tasks of its own a worker runs between two looks at the global queue.
const Every = 60

// Own counts a task of the worker's own.
func (f *Fairness) Own() { f.own = min(f.own+1, Every) }

// Due reports whether it is the turn of the global queue.
func (f *Fairness) Due() bool { return f.own == Every }

// Outside notes that the global queue has had its turn.
func (f *Fairness) Outside() { f.own = 0 }

// AnswerTime is how long a worker may go on with tasks, in nanoseconds, before goroutines run that wait for results. To let them
// run costs two switches, so tasks shorter than that share one.
const AnswerTime = 20_000
