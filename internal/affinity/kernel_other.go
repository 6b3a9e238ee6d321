//go:build !linux

package affinity

import (
	"errors"
	"runtime"
)

// system can place nothing: macOS and Windows on ARM have no such call, and for the rest there is no code.
type system struct{}

var errNotLinux = errors.New("goroutines can be placed on processors on Linux only, not on " + runtime.GOOS)

func (system) Thread() int             { return 0 }
func (system) Mask(int) (Mask, error)  { return nil, errNotLinux }
func (system) SetMask(int, Mask) error { return errNotLinux }
