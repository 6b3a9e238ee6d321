package affinity

import "math/bits"

// A Mask is a set of processors, as the kernel has it: a bit each, in words of its own size.
type Mask []uintptr

// Of returns the Mask of one processor.
func Of(processor int) Mask {
	m := make(Mask, processor/bits.UintSize+1)
	m[processor/bits.UintSize] = 1 << (processor % bits.UintSize)
	return m
}

// Processors returns what is in m, in ascending order.
func (m Mask) Processors() []int {
	var ids []int
	for i, word := range m {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, i*bits.UintSize+bits.TrailingZeros(uint(word)))
		}
	}
	return ids
}
