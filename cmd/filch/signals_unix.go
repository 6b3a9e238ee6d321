//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notify sends the signals on which filch trace writes what it has to c.
func notify(c chan<- os.Signal) { signal.Notify(c, syscall.SIGQUIT, syscall.SIGUSR1) }

func stopNotify(c chan<- os.Signal) { signal.Stop(c) }
