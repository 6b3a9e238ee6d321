package sim

// Timeline collects how busy the workers of a run were when. Its memory is bounded: it has so many rows of so many
// cells, a row stands for one or more neighbouring workers, and a cell for one or more steps. When the run outgrows
// the cells, each two become one.
type Timeline struct {
	Rows    int
	Columns int
	Workers int   // that a row stands for; the last one may have fewer
	Steps   int64 // that a cell stands for, a power of two
	End     int64 // when the last node that was busy ends, or has lost its processor
	busy    []int64
	at      []tracked
	kernel  bool // there is one: workers have no processor until they are scheduled
}

// tracked is what a timeline knows of a worker.
type tracked struct {
	runs, on bool   // a node; on a processor, which counts under a kernel only
	since    int64  // when both have been so
	thread   uint64 // of the node
}

// NewTimeline returns a timeline for a run on so many workers, of at most so many rows and exactly so many
// columns. All are at least 1, and there are at least 2 columns.
func NewTimeline(workers, rows, columns int) *Timeline {
	each := (workers + rows - 1) / rows
	rows = (workers + each - 1) / each
	return &Timeline{Rows: rows, Columns: columns, Workers: each, Steps: 1, busy: make([]int64, rows*columns), at: make([]tracked, workers)}
}

// Tell is for Config.Tell.
func (t *Timeline) Tell(e Event) {
	w := &t.at[e.Worker]
	if w.runs && (w.on || !t.kernel) {
		t.add(int(e.Worker)/t.Workers, w.since, e.Time)
	}
	w.since = e.Time
	switch e.Kind {
	case Began:
		w.runs, w.thread = true, e.Thread
	case Ended, Left:
		w.runs = false
	case Lost:
		w.runs = w.runs && w.thread != e.Thread
	case Scheduled:
		w.on, t.kernel = true, true
	case Preempted:
		w.on, t.kernel = false, true
	}
}

// add adds the steps from one to another time to a row.
func (t *Timeline) add(row int, from, to int64) {
	if from == to {
		return
	}
	t.End = max(t.End, to)
	for (to-1)/t.Steps >= int64(t.Columns) {
		t.fold()
	}
	cells := t.row(row)
	for from < to {
		cell := from / t.Steps
		end := min(to, (cell+1)*t.Steps)
		cells[cell] += end - from
		from = end
	}
}

// fold makes each two cells one.
func (t *Timeline) fold() {
	for r := range t.Rows {
		row := t.row(r)
		for i := range row {
			var sum int64
			if 2*i < len(row) {
				sum = row[2*i]
			}
			if 2*i+1 < len(row) {
				sum += row[2*i+1]
			}
			row[i] = sum
		}
	}
	t.Steps *= 2
}

func (t *Timeline) row(r int) []int64 { return t.busy[r*t.Columns : (r+1)*t.Columns] }

// Busy returns for how many worker-steps the workers of a row ran nodes during the steps of a column. It is at most
// Workers*Steps.
func (t *Timeline) Busy(row, column int) int64 { return t.row(row)[column] }
