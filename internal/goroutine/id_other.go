//go:build !(amd64 || arm64) || !gc

package goroutine

// Cheap says that ID costs nanoseconds.
const Cheap = false

// ID returns what no other goroutine has that lives at the same time: its number.
func ID() uintptr { return uintptr(Number()) }
