package flow

import "context"

// Sub adds a node to g that runs the graph inner on the same pool, and returns it. Its result is that of
// [Graph.RunFor]: nodes after it read the results of inner's nodes by [Result], until g runs again; see [Of.Get] and
// [Results]. Inside inner, [Of.In] also finds the results of preceding nodes of g. The worker that begins the node
// takes part in the run of inner, so no worker is blocked. A run of inner costs some microseconds, and its nodes as
// much as others. inner may be a node of several graphs, but not of itself. Sub panics as [Node] does, and if inner is
// nil.
func Sub(g *Graph, name string, inner *Graph, deps ...Dep) *Of[*Results] {
	needs(g != nil, "Sub", "g")
	needs(inner != nil, "Sub", "inner")
	n := &Of[*Results]{f: func(ctx context.Context) (*Results, error) { return inner.RunFor(ctx, runOf(ctx).pool) }}
	n.sub = inner
	g.add("Sub", &n.node, subBody{n}, name, deps)
	return n
}

// subBody releases the results of the run before.
type subBody struct{ *Of[*Results] }

func (b subBody) call(ctx context.Context, cell any) error {
	if r := *cell.(**Results); r != nil && r.st != nil {
		r.Release()
	}
	return b.Of.call(ctx, cell)
}
