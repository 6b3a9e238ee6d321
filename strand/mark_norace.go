//go:build !race

package strand

// mark takes no room.
type mark struct{}

func (m *mark) set()     {}
func (m *mark) is() bool { return true }
