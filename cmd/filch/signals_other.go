//go:build !unix

package main

import "os"

// notify does nothing: there are no such signals.
func notify(chan<- os.Signal) {}

func stopNotify(chan<- os.Signal) {}
