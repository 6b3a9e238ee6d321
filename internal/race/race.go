//go:build race

package race

// Enabled says that what cannot be checked for free is checked.
const Enabled = true
