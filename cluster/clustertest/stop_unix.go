//go:build unix

package clustertest

import "syscall"

// Stop stops the process where it is, as a machine that hangs: its connections stay, and it answers nothing until Resume.
func (p *Process) Stop() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a process go on that was stopped.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
