//go:build race

package strand

// mark is whether the Sync of a Value has been.
type mark struct{ synced bool }

func (m *mark) set()     { m.synced = true }
func (m *mark) is() bool { return m.synced }
