package strand

import (
	"reflect"

	"github.com/filch-go/filch/internal/race"
)

// Value is the result of a function spawned by [SpawnValue] or [SpawnCall].
type Value[T any] struct {
	synced mark // only under the race detector
	v      T    // the function writes it, or its spawner if that was a plain call
}

// SpawnValue is [Strand.Spawn] for a function with a result: [Value.Get] returns it after the [Strand.Sync] of s. What
// f captures is allocated on the heap; [SpawnCall] avoids that.
func SpawnValue[T any](s *Strand, f func(s *Strand) T) *Value[T] {
	if f == nil {
		panic("strand: SpawnValue: f is nil")
	}
	v := newValue[T](s, "SpawnValue")
	next := s.plain()
	if next == nil {
		var how kind
		if next, how = s.choose("SpawnValue"); how != plain {
			if how == real {
				if c := s.spawn(later(v, f)); c != nil {
					s.goesOn(c.yieldTo(spawned))
				}
			}
			return v
		}
	}
	s.c.open = next.depth
	callValue(next, v, f)
	return v
}

// SpawnCall is [SpawnValue] for a call of f with arg. If f captures nothing, a spawn that is a plain call allocates
// only the result, several at a time if results have no pointers.
func SpawnCall[A, T any](s *Strand, f func(s *Strand, arg A) T, arg A) *Value[T] {
	if f == nil {
		panic("strand: SpawnCall: f is nil")
	}
	v := newValue[T](s, "SpawnCall")
	next := s.plain()
	if next == nil {
		var how kind
		if next, how = s.choose("SpawnCall"); how != plain {
			if how == real {
				if c := s.spawn(callLater(s, v, f, arg)); c != nil {
					s.goesOn(c.yieldTo(spawned))
				}
			}
			return v
		}
	}
	s.c.open = next.depth
	callWith(next, v, f, arg)
	return v
}

// setValues lets the Values of s be read. All of its children have ended.
func (s *Strand) setValues() {
	for _, synced := range s.values {
		synced.set()
	}
	s.values = s.values[:0]
}

// callValue is call for SpawnValue.
func callValue[T any](s *Strand, v *Value[T], f func(s *Strand) T) {
	defer s.ended()
	v.v = f(s)
	s.Sync()
	s.returned = true
}

// callWith is call for SpawnCall.
func callWith[A, T any](s *Strand, v *Value[T], f func(s *Strand, arg A) T, arg A) {
	defer s.ended()
	v.v = f(s, arg)
	s.Sync()
	s.returned = true
}

// later returns callValue for a real spawn.
//
//go:noinline
func later[T any](v *Value[T], f func(s *Strand) T) func(s *Strand) {
	return func(s *Strand) { v.v = f(s) }
}

// call is a really spawned call with its argument. It is reused once the function has begun.
type call[A, T any] struct {
	v   *Value[T]
	f   func(s *Strand, arg A) T
	arg A
	run func(s *Strand) // begins the function
}

// callLater returns callWith for a real spawn of s.
//
//go:noinline
func callLater[A, T any](s *Strand, v *Value[T], f func(s *Strand, arg A) T, arg A) func(s *Strand) {
	c, ok := s.c.call.(*call[A, T])
	if !ok {
		c = &call[A, T]{}
		c.run = func(s *Strand) {
			v, f, arg := c.v, c.f, c.arg
			var none A
			c.v, c.f, c.arg = nil, nil, none // f may spawn and reuse c
			v.v = f(s, arg)
		}
		if !race.Enabled { // else functions may be separate goroutines, which use it in no order
			s.c.call = c
		}
	}
	c.v, c.f, c.arg = v, f, arg
	return c.run
}

// Get returns the result, or the zero value if the function was not called because the context of [RunContext] had
// ended. Call it any number of times after the Sync of the strand that spawned the function, also after that strand has
// ended. Before the Sync it panics under the race detector, and otherwise may return the zero value.
func (v *Value[T]) Get() T {
	if v == nil {
		panic("strand: Get: the Value is nil: it is made by SpawnValue or SpawnCall")
	}
	if race.Enabled && !v.synced.is() {
		panic("strand: Get before the Sync of the strand that has spawned the function")
	}
	return v.v
}

// slab is memory for several values. They have no pointers, so keeping one keeps nothing but the slab alive.
type slab[T any] struct {
	all  []Value[T]
	used int
	room int // how many fit; 0 if values have pointers, and are allocated one by one
}

const slabBytes = 512

// newValue returns a Value for a spawn of s.
func newValue[T any](s *Strand, op string) *Value[T] {
	if race.Enabled {
		s.check(op)
		v := &Value[T]{}
		s.values = append(s.values, &v.synced)
		return v
	}
	if s != nil && s.c != nil {
		c := s.c
		if b, ok := c.slab.(*slab[T]); ok && b.used < len(b.all) {
			v := &b.all[b.used]
			b.used++
			return v
		}
	}
	return newSlab[T](s, op)
}

//go:noinline
func newSlab[T any](s *Strand, op string) *Value[T] {
	s.check(op)
	b, ok := s.c.slab.(*slab[T])
	if !ok {
		if s.c.slab != nil && !s.c.reslab {
			return &Value[T]{}
		}
		b = &slab[T]{}
		if !hasPointers(reflect.TypeFor[T]()) {
			b.room = slabBytes / max(1, int(reflect.TypeFor[Value[T]]().Size()))
		}
		s.c.slab = b
	}
	s.c.reslab = false
	if b.room < 2 {
		return &Value[T]{}
	}
	b.all, b.used = make([]Value[T], b.room), 1
	return &b.all[0]
}

// hasPointers reports whether a value of type t keeps other memory alive.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	}
	return true
}
