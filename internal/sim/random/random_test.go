package random

import (
	"slices"
	"testing"
)

// The numbers are those of splitmix64 (Mix) and of the generator of MMIX (Below), on every platform.
func TestNumbersAreKnown(t *testing.T) {
	var mixed []uint64
	for x := range uint64(3) {
		mixed = append(mixed, Mix(x))
	}
	if want := []uint64{0xe220a8397b1dcdaf, 0x910a2dec89025cc1, 0x975835de1c9756ce}; !slices.Equal(mixed, want) {
		t.Errorf("%#x, not %#x", mixed, want)
	}
	state := uint64(1)
	var below []int
	for range 6 {
		below = append(below, Below(&state, 100))
	}
	if want := []int{42, 50, 64, 38, 79, 50}; !slices.Equal(below, want) {
		t.Errorf("%d, not %d", below, want)
	}
}

// Each number below n comes as often as another.
func TestBelowIsFair(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000} {
		const each = 1000
		count := make([]int, n)
		state := Mix(5)
		for range n * each {
			count[Below(&state, n)]++
		}
		if least, most := slices.Min(count), slices.Max(count); least < each*8/10 || most > each*12/10 {
			t.Errorf("of %d numbers one came %d times, one %d times, not all about %d", n, least, most, each)
		}
	}
}
