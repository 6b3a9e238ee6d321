//go:build !unix

package main

import "syscall"

// ownGroup does nothing where there are no groups of processes.
func ownGroup() *syscall.SysProcAttr { return nil }
