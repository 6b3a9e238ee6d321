//go:build !linux

package processor

// Current returns Unknown.
func Current() int { return Unknown }
