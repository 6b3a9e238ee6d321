package tell

import (
	"fmt"
	"io"
	"strings"

	"github.com/filch-go/filch/internal/event"
)

// Look writes l, a line for each thing, with tabs between the columns.
func Look(out io.Writer, l *event.Look) {
	for _, w := range l.Workers {
		var parts []string
		if w.Task != "" {
			parts = append(parts, w.Task)
			if w.For > 0 {
				parts[0] += fmt.Sprintf(", for %v or more", Round(w.For))
			}
		}
		if w.Doing != "" {
			parts = append(parts, w.Doing)
		}
		if len(parts) == 0 {
			parts = append(parts, "idle")
		}
		if w.At != "" {
			parts = append(parts, w.At)
		}
		queued := ""
		if w.Queued > 0 {
			queued = fmt.Sprint(w.Queued, " queued")
		}
		fmt.Fprintf(out, "worker %d\t%s\t%s\n", w.Worker, queued, strings.Join(parts, "; "))
	}
	for _, t := range l.InPlace {
		fmt.Fprintf(out, "in place\t\t%s\n", at(t))
	}
	for _, t := range l.Long {
		fmt.Fprintf(out, "long running\t\t%s\n", at(t))
	}
	for _, w := range l.Waits {
		fmt.Fprintf(out, "waiting\t\t%s waits for %s\n", w.By, w.On)
	}
	if l.More > 0 {
		fmt.Fprintf(out, "waiting\t\tand %d more tasks\n", l.More)
	}
	for _, c := range l.Circles {
		fmt.Fprintf(out, "cycle:\t\t%s\n", c)
	}
	for _, h := range l.Held {
		fmt.Fprintf(out, "held\t\t%s %s\n", h.Task, h.Why)
	}
	if l.MoreHeld > 0 {
		fmt.Fprintf(out, "held\t\tand %d more tasks\n", l.MoreHeld)
	}
}

func at(t event.TaskLook) string {
	if t.At == "" {
		return t.Task
	}
	return t.Task + "; " + t.At
}
