package main

import (
	"math/bits"

	"github.com/filch-go/filch"
)

// A board has a queen in each of its first rows. A bit is a column.
type board struct {
	free        uint // columns without a queen
	left, right uint // squares of the next row that are attacked along a diagonal
	todo        uint // squares of the next row to try
}

// emptyBoard has n columns and no queen.
func emptyBoard(n int) board { return board{free: 1<<n - 1, todo: 1<<n - 1} }

// place returns the board with a queen on the first square to try.
func (b board) place() board {
	q := b.todo & -b.todo
	free, left, right := b.free^q, (b.left|q)<<1, (b.right|q)>>1
	return board{free, left, right, free &^ (left | right)}
}

// skip returns the board without the first square to try.
func (b board) skip() board {
	b.todo &= b.todo - 1
	return b
}

// queensSerial counts the ways to fill the board.
func queensSerial(b board) int {
	if b.free == 0 {
		return 1
	}
	n := 0
	for ; b.todo != 0; b = b.skip() {
		n += queensSerial(b.place())
	}
	return n
}

// queensAll counts the same: it forks the other squares, and goes on with the first.
var queensAll = filch.NewFunc(func(f *filch.Frame[board, int], b board) int {
	if b.free == 0 {
		return 1
	}
	if b.todo == 0 {
		return 0
	}
	others := f.Fork(b.skip())
	n := f.Call(b.place())
	return n + f.Join(others)
})

// queensCoarse is queensAll with a cutoff: it fills the last rows by plain calls.
var queensCoarse = filch.NewFunc(func(f *filch.Frame[board, int], b board) int {
	if bits.OnesCount(b.free) <= 5 {
		return queensSerial(b)
	}
	if b.todo == 0 {
		return 0
	}
	others := f.Fork(b.skip())
	n := f.Call(b.place())
	return n + f.Join(others)
})

// queensFirst returns the columns of the missing queens from the last row up, or nil if there is no way.
var queensFirst = filch.NewFunc(func(f *filch.Frame[board, []int], b board) []int {
	if b.free == 0 {
		f.Stop() // no worker needs to search on
		return []int{}
	}
	if b.todo == 0 {
		return nil
	}
	others := f.Fork(b.skip())
	columns := f.Call(b.place())
	if columns != nil {
		columns = append(columns, bits.TrailingZeros(b.todo))
	}
	if other := f.Join(others); columns == nil { // Join returns nil for a fork that the stop has dropped
		columns = other
	}
	return columns
})

// solve places n queens so that none attacks another, or returns nil.
func solve(s filch.Scope, n int) []int {
	var stop filch.Stop
	columns, _ := queensFirst.CallUntil(s, &stop, emptyBoard(n))
	return columns
}
