//go:build race

package place

// checked says that each step is checked: one place too many that is given up must not go
// unnoticed until the pool hangs.
const checked = true
