package task

import (
	"context"
	"runtime/pprof"
)

// labelled returns ctx with the labels that WithLabels gives its task.
func labelled(ctx context.Context) context.Context {
	c := Of(ctx)
	if c == nil || c.Pool.Labels == nil {
		return ctx
	}
	name := ""
	if m := c.extras.Load(); m != nil {
		name = m.options.Name
	}
	return c.Pool.Labels(ctx, c.Pool.Name, name)
}

// WithLabels returns ctx with the names of a pool and a task.
func WithLabels(ctx context.Context, pool, task string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels("filch_pool", pool, "filch_task", task))
}

// LabelsOf returns a context with the labels for work on behalf of ctx, or nil if there are none. Equal pointers mean equal
// labels; contexts themselves cannot always be compared.
func LabelsOf(ctx context.Context) (labels *context.Context) {
	ctx = labelled(ctx)
	pprof.ForLabels(ctx, func(string, string) bool {
		labels = &ctx
		return false
	})
	return labels
}
