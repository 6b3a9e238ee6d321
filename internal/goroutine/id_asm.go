//go:build (amd64 || arm64) && gc

package goroutine

// Cheap says that ID costs nanoseconds.
const Cheap = true

// ID returns what no other goroutine has that lives at the same time: the address of the runtime's
// record of it, which is used again when the goroutine has ended.
func ID() uintptr
