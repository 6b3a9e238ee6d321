package task

import "strings"

// InOp returns err as the error of op, with more behind it. Both begin with the name of the package,
// which is said once.
func InOp(op string, err error, more string) error { return &opError{op, more, err} }

type opError struct {
	op, more string
	err      error
}

func (e *opError) Error() string {
	return "filch: " + e.op + ": " + strings.TrimPrefix(e.err.Error(), "filch: ") + e.more
}

func (e *opError) Unwrap() error { return e.err }
