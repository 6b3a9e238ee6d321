package event

// A Source is a pool as package trace sees it.
type Source interface {
	AddHook(h Hook)
	RemoveHook(h Hook)
}

// sourceOf is set by package filch.
var sourceOf func(pool any) Source

// Known sets how the Source of a pool is found. Package filch calls it when the program begins.
func Known(of func(pool any) Source) { sourceOf = of }

// SourceOf returns the Source of a pool, or nil if New has not made it.
func SourceOf(pool any) Source { return sourceOf(pool) }
