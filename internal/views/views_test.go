package views

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// word is an object whose views are strings.
type word struct {
	key   Key
	ended []string
	bad   bool
}

func newWord() *word {
	w := &word{}
	w.key.Init(w)
	return w
}

func (w *word) Fresh() unsafe.Pointer { return unsafe.Pointer(new(string)) }

func (w *word) Fold(into, from unsafe.Pointer) {
	if w.bad {
		panic("bad")
	}
	*(*string)(into) += *(*string)(from)
}

func (w *word) End(view unsafe.Pointer) { w.ended = append(w.ended, *(*string)(view)) }

// write appends s to the view of w in t, as a user of views does.
func (w *word) write(t *Table, s string) *Table {
	v := t.Find(&w.key)
	if v == nil {
		v = w.key.Fresh()
		t = Add(t, &w.key, v)
	}
	t.Note(&w.key, v)
	*(*string)(v) += s
	return t
}

// Each object has one view in a Table, however many there are, and tables that were used before are empty.
func TestEachObjectHasOneViewInATable(t *testing.T) {
	for range 3 {
		for _, n := range []int{1, few, few + 1, few + 2, 10 * few} {
			var all *Table
			words := make([]*word, n)
			for i := range words {
				words[i] = newWord()
			}
			for _, part := range []string{"a", "b"} {
				for i, w := range words {
					if part == "a" && (all.Find(&w.key) != nil || all.Noted(&w.key) != nil) {
						t.Fatalf("there is a view of %d before it was made", i)
					}
					all = w.write(all, part)
					if all.Noted(&w.key) != all.Find(&w.key) {
						t.Errorf("%d of %d: another view is noted", i, n)
					}
				}
			}
			seen := map[unsafe.Pointer]bool{nil: true}
			for i, w := range words {
				if v := all.Noted(&w.key); v != nil && v != all.Find(&w.key) || seen[all.Find(&w.key)] {
					t.Errorf("%d of %d has the view of another", i, n)
				}
				seen[all.Find(&w.key)] = true
			}
			if len(all.list) != n {
				t.Errorf("%d views of %d", len(all.list), n)
			}
			all.End()
			if all.index != nil || len(all.list) != 0 || all.noted != [places]entry{} || all.room != [few]entry{} {
				t.Error("something is left in a Table that is used again")
			}
			for i, w := range words {
				if !slices.Equal(w.ended, []string{"ab"}) {
					t.Errorf("%d of %d ended with %v", i, n, w.ended)
				}
			}
		}
	}
}

// The views of both tables are in the result, the earlier ones on the left.
func TestMergingPutsTheEarlierViewsOnTheLeft(t *testing.T) {
	for _, n := range []int{1, 3, few, 3 * few} {
		for from := range n + 1 { // both have what lies between from and to
			for to := from; to <= n; to++ {
				words := make([]*word, n)
				var left, right *Table
				for i := range words {
					words[i] = newWord()
					if i < to {
						left = words[i].write(left, fmt.Sprint("l", i))
					}
					if i >= from {
						right = words[i].write(right, fmt.Sprint("r", i))
					}
				}
				all := Merge(left, right)
				if left != nil && all != left || left == nil && all != right {
					t.Fatal("the result is another table")
				}
				if all != nil {
					all.End()
				}
				for i, w := range words {
					want := ""
					if i < to {
						want = fmt.Sprint("l", i)
					}
					if i >= from {
						want += fmt.Sprint("r", i)
					}
					if len(w.ended) != 1 || w.ended[0] != want {
						t.Errorf("%d of %d, both from %d to %d: %q, not %s", i, n, from, to, w.ended, want)
					}
				}
			}
		}
	}
}

// A panic in the middle leaves a Table that can be used.
func TestAPanicInAMerge(t *testing.T) {
	a, b, c := newWord(), newWord(), newWord()
	left := c.write(b.write(a.write(nil, "a"), "b"), "c")
	right := c.write(b.write(a.write(nil, "1"), "2"), "3")
	func() {
		defer func() { _ = recover() }()
		b.bad = true
		Merge(left, right)
	}()
	left.End()
	if got := fmt.Sprint(a.ended, b.ended, c.ended); got != "[a1] [b] [c]" {
		t.Error("fmt.Sprint(a.ended, b.ended, c.ended):", got)
	}
}

// The nil Table has no view, and a Key tells whether it was made.
func TestTheNilTableHasNoView(t *testing.T) {
	var none *Table
	w := newWord()
	if none.Noted(&w.key) != nil || new(Table).Noted(nil) != nil || none.Find(&w.key) != nil || Merge(nil, nil) != nil || !w.key.Made() || new(Key).Made() {
		t.Error("there is something")
	}
}
