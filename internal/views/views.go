// Package views keeps the views of hyperobjects, which are reducers and holders.
//
// A program that forks is cut into segments wherever another worker takes something: a segment is
// what one worker runs of it one thing after the other. A segment has a view of each hyperobject
// that it uses, and looks it up in a [Table]. Where two segments meet, at a join, [Merge] folds the
// later one into the earlier one. A Table belongs to one segment, and so to one worker at a time:
// there are no locks.
//
// Hyperobjects are from Cilk++: Frigo, Halpern, Leiserson and Lewin-Berlin, "Reducers and Other
// Cilk++ Hyperobjects", SPAA 2009.
package views

import (
	"math/bits"
	"sync"
	"unsafe"
)

// An Object is what there are views of. All its views point to a type of its own, which it alone
// knows.
type Object interface {
	// Fresh returns a new view.
	Fresh() unsafe.Pointer
	// Fold folds a later view into an earlier one, which stays.
	Fold(into, from unsafe.Pointer)
	// End takes a view that is left at the end of an outermost call.
	End(view unsafe.Pointer)
}

// Key is what an Object is found by: its address. It stands in the Object.
type Key struct{ of Object }

// Init makes k the key of o.
func (k *Key) Init(o Object) { k.of = o }

// Fresh returns a new view.
func (k *Key) Fresh() unsafe.Pointer { return k.of.Fresh() }

// Made reports whether Init was called.
func (k *Key) Made() bool { return k.of != nil }

// Table has the views of one segment. The nil Table has none.
type Table struct {
	noted [places]entry // of list, what was used last of all that have the same place

	list  []entry
	index map[*Key]unsafe.Pointer // of list, if that is long
	room  [few]entry              // that list begins with
}

type entry struct {
	key  *Key
	view unsafe.Pointer
}

// few is how many views a Table looks through one by one, and has room for without an allocation.
const few = 8

var spare = sync.Pool{New: func() any {
	t := &Table{}
	t.list = t.room[:0]
	return t
}}

// Noted returns the view of k if it has been noted since another at its place was, else nil.
func (t *Table) Noted(k *Key) unsafe.Pointer {
	// This is inlined into what each update of a view calls.
	if t != nil {
		if e := &t.noted[k.place()]; e.key == k {
			return e.view
		}
	}
	return nil
}

// Note has Noted find the view of k.
func (t *Table) Note(k *Key, view unsafe.Pointer) { t.noted[k.place()] = entry{k, view} }

// place is a hash of the address of k, which may be nil, by Knuth's multiplication.
func (k *Key) place() uintptr {
	return uintptr(unsafe.Pointer(k)) * spread >> (bits.UintSize - placeBits)
}

const (
	placeBits = 3
	places    = 1 << placeBits
	spread    = 0x9e3779b97f4a7c15>>(64-bits.UintSize) | 1
)

// Find returns the view of k, or nil.
func (t *Table) Find(k *Key) unsafe.Pointer {
	if t == nil {
		return nil
	}
	if t.index != nil {
		return t.index[k]
	}
	for i := range t.list {
		if t.list[i].key == k {
			return t.list[i].view
		}
	}
	return nil
}

// Add adds a view of k, which t has none of, and returns t, or a new Table if t is nil.
func Add(t *Table, k *Key, view unsafe.Pointer) *Table {
	if t == nil {
		t = spare.Get().(*Table)
	}
	t.list = append(t.list, entry{k, view})
	switch {
	case t.index != nil:
		t.index[k] = view
	case len(t.list) > few:
		t.index = make(map[*Key]unsafe.Pointer, 2*few)
		for _, e := range t.list {
			t.index[e.key] = e.view
		}
	}
	return t
}

// Merge folds the views of right into those of left, which come before them, and returns the result.
// Neither is to be used any more. If an Object panics, the views that follow are lost, and left has
// the others.
func Merge(left, right *Table) *Table {
	if left == nil || right == nil {
		if left == nil {
			return right
		}
		return left
	}
	for _, e := range right.list {
		if into := left.Find(e.key); into != nil {
			e.key.of.Fold(into, e.view)
		} else {
			Add(left, e.key, e.view)
		}
	}
	right.release()
	return left
}

// End hands the views of t to their Objects, at the end of an outermost call. If one panics, the
// views that follow are lost.
func (t *Table) End() {
	for _, e := range t.list {
		e.key.of.End(e.view)
	}
	t.release()
}

// release forgets all that t has, so that it can be used again.
func (t *Table) release() {
	t.index = nil
	clear(t.noted[:])
	clear(t.room[:])
	t.list = t.room[:0]
	spare.Put(t)
}
