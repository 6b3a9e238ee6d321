package edge

import "slices"

// Cycle reports whether a task waits for itself, in the end. waiting are the tasks that wait for one; is says whether an edge is there
// indeed, and is asked only about edges of a way. It takes time in proportion to the edges that lead to the task, for each way that is none.
// It changes waiting.
func Cycle[ID comparable](task ID, waiting map[ID][]ID, is func(task, dep ID) (bool, error)) (bool, error) {
	for {
		way := wayTo(task, waiting)
		if way == nil {
			return false, nil
		}
		gone := false
		for i := 1; i < len(way) && !gone; i++ {
			waits, dep := way[i], way[i-1]
			there, err := is(waits, dep)
			if err != nil {
				return false, err
			}
			if gone = !there; gone {
				waiting[dep] = slices.DeleteFunc(waiting[dep], func(t ID) bool { return t == waits })
			}
		}
		if !gone {
			return true, nil
		}
	}
}

// wayTo returns a way from a task to itself, each of which waits for the one before, or nil.
func wayTo[ID comparable](task ID, waiting map[ID][]ID) []ID {
	before := map[ID]ID{}
	for next := []ID{task}; len(next) > 0; {
		dep := next[len(next)-1]
		next = next[:len(next)-1]
		for _, t := range waiting[dep] {
			if _, seen := before[t]; seen {
				continue
			}
			before[t] = dep
			if t != task {
				next = append(next, t)
				continue
			}
			way := []ID{task}
			for d := dep; d != task; d = before[d] {
				way = append(way, d)
			}
			way = append(way, task)
			slices.Reverse(way)
			return way
		}
	}
	return nil
}
