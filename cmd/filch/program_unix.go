//go:build unix

package main

import "syscall"

// ownGroup makes a process one that an interrupt from the keyboard does not reach: it goes to the group of the process that was started there.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
