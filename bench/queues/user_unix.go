//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// become makes a command run as a user.
func become(c *exec.Cmd, uid, gid int) {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
