//go:build !race

package filch

// checked says that what cannot be checked for free is checked.
const checked = false
