//go:build race

package strand

// mark records whether the Sync of a Value has happened.
type mark struct{ synced bool }

func (m *mark) set()     { m.synced = true }
func (m *mark) is() bool { return m.synced }
