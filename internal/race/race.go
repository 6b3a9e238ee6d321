//go:build race

package race

// Enabled says that what cannot be checked for free is checked.
const Enabled = true

// Touch writes n, so that the detector sees two goroutines that come by.
func Touch(n *int) { *n++ }
