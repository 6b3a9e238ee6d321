package main

import (
	"testing"

	"github.com/filch-go/filch"
)

// There are as many ways as the serial program counts.
func TestQueensAreThoseOfTheSerialProgram(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		for n, want := range []int{1: 1, 0, 0, 2, 10, 4, 40, 92} {
			if n == 0 {
				continue
			}
			if got := queensSerial(emptyBoard(n)); got != want {
				t.Errorf("queensSerial(emptyBoard(%d)): %d, not %d", n, got, want)
			}
			if got := queensAll.Call(pool, emptyBoard(n)); got != want {
				t.Errorf("queensAll.Call(pool, emptyBoard(%d)): %d, not %d", n, got, want)
			}
			if got := queensCoarse.Call(pool, emptyBoard(n)); got != want {
				t.Errorf("queensCoarse.Call(pool, emptyBoard(%d)): %d, not %d", n, got, want)
			}
		}
	})
}

// The first solution is one, and there is none where there can be none.
func TestTheFirstSolutionIsOne(t *testing.T) {
	pools(t, func(t *testing.T, pool *filch.Pool) {
		for _, n := range []int{1, 2, 3, 4, 9, 12} {
			columns := solve(pool, n)
			if n == 2 || n == 3 {
				if columns != nil {
					t.Errorf("solve(pool, %d): %v", n, columns)
				}
				continue
			}
			if len(columns) != n {
				t.Fatalf("solve(pool, %d): %v", n, columns)
			}
			for i, a := range columns {
				for j, b := range columns[:i] {
					if a < 0 || a >= n || a == b || a-b == i-j || b-a == i-j {
						t.Errorf("solve(pool, %d): %v", n, columns)
					}
				}
			}
		}
	})
}
