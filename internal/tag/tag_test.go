package tag

import (
	"iter"
	"runtime"
	"slices"
	"testing"
)

// A stack spells numbers, each as a whole. One that is cut off inside of a number does not
// tell it.
func TestNumbersAreWhole(t *testing.T) {
	for _, c := range []struct {
		frames iter.Seq[runtime.Frame]
		want   []uint64
	}{
		{framesNamed(), nil},
		{framesNamed("f", "g"), nil},
		{framesNamed("f", 7, "g"), []uint64{7}},
		{framesNamed("f", 1, 0, 63, "g"), []uint64{64*64 + 63}},
		{framesNamed(5, "g", "h", 6, 1, "i"), []uint64{5, 6*64 + 1}},
		{framesNamed("f", 5, "g", 6), []uint64{5}},
		{framesNamed("f", 1, 0), nil},
	} {
		if got := slices.Collect(Numbers(c.frames)); !slices.Equal(got, c.want) {
			t.Errorf("%v, not %v", got, c.want)
		}
		for range Numbers(c.frames) {
			break // whenever one wants to
		}
	}
}

// A profile tells the counters of a program as hexadecimal numbers; what is none is left out.
func TestCountersOfAProfile(t *testing.T) {
	if got := PCs("1f 0x2 0xx 0xffff\n"); !slices.Equal(got, []uintptr{0x1f, 2, 0xffff}) {
		t.Errorf(`PCs("1f 0x2 0xx 0xffff\n"): %x`, got)
	}
	if got := PCs("\n"); len(got) != 0 {
		t.Errorf(`PCs("\n"): %x`, got)
	}
}

// framesNamed returns frames of these functions. A number is a frame of digit that spells it.
func framesNamed(names ...any) iter.Seq[runtime.Frame] {
	var frames []runtime.Frame
	for _, name := range names {
		switch name := name.(type) {
		case int:
			frames = append(frames, runtime.Frame{Function: lines().name, Line: lines().first + 2*name})
		case string:
			frames = append(frames, runtime.Frame{Function: name})
		}
	}
	return slices.Values(frames)
}
