package tell

import (
	"slices"
	"strings"
)

// What a traceback tells of tasks. What calls the function of a Future has the Future's address among the
// arguments. A wait that blocks has the addresses of both tasks there. Arrays are passed
// in memory, where each argument is valid for as long as the call lasts, and a traceback
// prints them.

// Stacks is what the stacks of all goroutines tell of tasks. The caller's comes first.
type Stacks []TaskStack

// A TaskStack is the stack of one goroutine, the newest call first.
type TaskStack struct {
	WaitsFor string // the address of a task, if the goroutine is blocked in the name
	By       string // of this one;
	Lasts    bool   // the wait does not end before that task's context
	Tasks    []TaskCall
}

// A TaskCall is a call of a task's function.
type TaskCall struct {
	Address  string // of a Future
	Function string
}

// ReadTasks reads a traceback of goroutines.
func ReadTasks(text string) (all Stacks) {
	newest := "" // of the calls that are not ours, since the last task
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "goroutine ") {
			all = append(all, TaskStack{})
			newest = ""
			continue
		}
		if len(all) == 0 || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "created by ") {
			continue
		}
		all[len(all)-1].add(strings.TrimSpace(line), &newest)
	}
	return all
}

// add adds the next older call. called is the function that it has called.
func (s *TaskStack) add(call string, called *string) {
	name, ours := strings.CutPrefix(call, ofTasks)
	if !ours {
		if i := strings.LastIndex(call, "("); i > 0 && !strings.HasPrefix(call, Filch) {
			*called = call[:i]
		}
		return
	}
	kind, _, _ := strings.Cut(name, "(0x")
	switch {
	case strings.HasPrefix(name, "blocked("):
		if m := addresses(name); len(m) == 3 && len(s.Tasks) == 0 && s.By == "" {
			s.WaitsFor, s.Lasts, s.By = m[0], m[1] == m[2], m[2]
		}
	case strings.HasPrefix(name, "runFuture("):
		task := TaskCall{Function: *called}
		if m := addresses(name); len(m) == 2 {
			task.Address = m[0]
		}
		s.Tasks = append(s.Tasks, task)
	case kind == "Plain.Start", kind == "(*groupTask).Start":
		s.Tasks = append(s.Tasks, TaskCall{Function: *called})
	}
}

// Running returns which goroutine runs the task with the given address.
func (all Stacks) Running(address string) (goroutine, task int) {
	for i, s := range all {
		if j := slices.IndexFunc(s.Tasks, func(t TaskCall) bool { return t.Address == address }); j >= 0 {
			return i, j
		}
	}
	return -1, 0
}

// NameOf tells which task has the given address: by its function, if a goroutine runs it.
func (all Stacks) NameOf(address string) string {
	if i, task := all.Running(address); i >= 0 {
		return "task " + all[i].Tasks[task].Function
	}
	if i := slices.IndexFunc(all, func(s TaskStack) bool { return s.By == address && len(s.Tasks) > 0 }); i >= 0 {
		return "task " + all[i].Tasks[0].Function
	}
	return WithoutName
}

// addresses returns the addresses of the first array among the arguments of a call.
func addresses(call string) []string {
	_, args, _ := strings.Cut(call, "{")
	args, _, ok := strings.Cut(args, "}")
	if !ok || strings.ContainsAny(args, "?.") {
		return nil
	}
	return strings.Split(args, ", ")
}
