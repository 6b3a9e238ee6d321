package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sum emits the sum of groups of four vectors. Each vector of a group has an accumulator, so
// that additions need not wait for one another.
func sum(k kind) {
	name := "sum_" + k.name()
	function(name, fmt.Sprintf("func(p *uint8, n int) %s", k.goType()), name+" returns the sum of n groups of 128 bytes.")
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = zero()
	}
	loop(n, "group", func() {
		prefetch(p.(reg.Register), 4*vector)
		for i, a := range acc {
			add(k)(Mem{Base: p, Disp: vector * i}, a, a)
		}
		ADDQ(Imm(4*vector), p)
	})
	reduce(k, acc)
}

// reduce returns the sum of four vectors.
func reduce(k kind, acc [4]reg.VecVirtual) {
	add(k)(acc[2], acc[0], acc[0])
	add(k)(acc[3], acc[1], acc[1])
	add(k)(acc[1], acc[0], acc[0])
	half, low := XMM(), acc[0].AsX()
	VEXTRACTI128(Imm(1), acc[0], half)
	add(k)(half, low, low)
	for width := 8; width >= k.size; width /= 2 { // the upper half of what is left to the lower
		VPSRLDQ(Imm(uint64(width)), low, half)
		add(k)(half, low, low)
	}
	VZEROUPPER()
	giveBack(k, low)
}

// giveBack returns the first element of a vector.
func giveBack(k kind, v reg.Register) {
	switch {
	case k.float():
		Store(v, ReturnIndex(0))
	default:
		r := GP64()
		MOVQ(v, r)
		switch k.size {
		case 1:
			Store(r.As8(), ReturnIndex(0))
		case 2:
			Store(r.As16(), ReturnIndex(0))
		case 4:
			Store(r.As32(), ReturnIndex(0))
		default:
			Store(r, ReturnIndex(0))
		}
	}
	RET()
}
