//go:build !amd64 || purego || race

package main

// addBlock is addBlockInGo, for there is no assembly.
func addBlock(a, b *float64, n int, c *panel) { addBlockInGo(a, b, n, c) }
