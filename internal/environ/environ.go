// Package environ reads the environment variables that turn something on in all pools of a program.
package environ

import (
	"fmt"
	"os"
)

// On reports whether the variable turns on what it is for. It panics if the value is neither on nor off, since a
// variable that is passed over looks like a program without mistakes.
func On(variable string) bool {
	switch v := os.Getenv(variable); v {
	case "1", "true", "all":
		return true
	case "", "0", "false":
		return false
	default:
		panic(fmt.Sprintf("filch: %s=%q: it must be 1, true or all, or, to turn it off, 0, false or empty", variable, v))
	}
}
