//go:build !race

// Package race tells whether the program was built with the race detector. Then the
// scheduler also checks what cannot be checked for free: the steps of its atomic words, and
// the use of handles.
package race

// Enabled says that what cannot be checked for free is checked.
const Enabled = false
