//go:build !linux

package main

// Elsewhere there is no peak memory of a stretch of time to be had.
func resetPeakMemory() {}

func peakMemory() int64 { return 0 }
