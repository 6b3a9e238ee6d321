//go:build !unix

package clustertest

import "errors"

// Stop returns [errors.ErrUnsupported] where there are no signals.
func (p *Process) Stop() error { return errors.ErrUnsupported }

// Resume returns [errors.ErrUnsupported] where there are no signals.
func (p *Process) Resume() error { return errors.ErrUnsupported }
