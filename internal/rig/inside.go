package rig

import (
	"reflect"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/task"
)

// Inside returns the tasks of p, for what a test must know and no user.
func Inside(p *filch.Pool) *task.Pool {
	return (*task.Pool)(inside(p, "tasks", reflect.TypeFor[task.Pool]()))
}

// InsideSubpool returns the tasks of s.
func InsideSubpool(s *filch.Subpool) *task.Subpool {
	return (*task.Subpool)(inside(s, "tasks", reflect.TypeFor[task.Subpool]()))
}

// Seats returns how many goroutines of the pool run on each of its processors, and how many are pinned in all.
func Seats(p *filch.Pool) (load []int, pinned int) {
	pins := reflect.ValueOf(p).Elem().FieldByName("pins")
	if pins.IsNil() {
		return nil, 0
	}
	seats := pins.Elem().FieldByName("seats")
	if seats.IsNil() {
		return nil, 0
	}
	return (*affinity.Seats)(seats.Elem().UnsafePointer()).Load()
}

// inside returns the address of a field of v, which is a pointer.
func inside(v any, field string, typ reflect.Type) unsafe.Pointer {
	f := reflect.ValueOf(v).Elem().FieldByName(field)
	if f.Type() != typ {
		panic(field + " is a " + f.Type().String())
	}
	return unsafe.Pointer(f.UnsafeAddr())
}
