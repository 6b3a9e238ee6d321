package main

import (
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
)

// In virtual time, nothing but the order decides.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, err := run()
		if err != nil {
			t.Fatal("run():", err)
		}
		if late[filch.FIFO] == 0 || late[filch.ByPriority] > 0 {
			t.Errorf("late: %v", late)
		}
	})
}
