package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// between emits how many elements are from lo to hi, of groups of two vectors. Integers are from lo
// to hi if v-lo is at most hi-lo, as unsigned numbers, whatever their sign was.
func between(k kind) {
	name := "between_" + k.name()
	function(name, fmt.Sprintf("func(p *uint8, n int, lo, hi %s) int", k.goType()), name+" returns how many bytes belong to elements from lo to hi, in n groups of 64 bytes.")
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	is := chooser(k)
	count := [2]reg.GPVirtual{GP64(), GP64()}
	for _, c := range count {
		XORQ(c, c)
	}
	loop(n, "group", func() {
		prefetch(p.(reg.Register), 2*vector)
		for i, c := range count {
			v := YMM()
			VMOVDQU(Mem{Base: p, Disp: vector * i}, v)
			bits := GP32()
			VPMOVMSKB(is(v), bits)
			POPCNTL(bits, bits)
			ADDQ(bits.As64(), c)
		}
		ADDQ(Imm(2*vector), p)
	})
	ADDQ(count[1], count[0])
	VZEROUPPER()
	Store(count[0], ReturnIndex(0))
	RET()
}

// chooser returns what makes a mask of the elements of a vector from lo to hi. It may change the
// vector.
func chooser(k kind) func(v reg.VecVirtual) reg.VecVirtual {
	lo, hi := broadcast(k, "lo"), broadcast(k, "hi")
	if k.float() {
		atMost := pick(k, [4]instruction{}, [2]instruction{compare(VCMPPS, 0x12), compare(VCMPPD, 0x12)})
		return func(v reg.VecVirtual) reg.VecVirtual {
			above, below := YMM(), YMM()
			atMost(v, lo, above) // lo <= v
			atMost(hi, v, below) // v <= hi
			VPAND(above, below, below)
			return below
		}
	}
	sub(k)(lo, hi, hi)
	if k.size < 8 {
		return func(v reg.VecVirtual) reg.VecVirtual {
			sub(k)(lo, v, v)
			least := YMM()
			pick(k, [4]instruction{VPMINUB, VPMINUW, VPMINUD, nil}, [2]instruction{})(v, hi, least)
			pick(k, [4]instruction{VPCMPEQB, VPCMPEQW, VPCMPEQD, nil}, [2]instruction{})(v, least, least)
			return least
		}
	}
	sign, none := topBits(), YMM()
	VPXOR(sign, hi, hi)
	VPCMPEQD(none, none, none)
	return func(v reg.VecVirtual) reg.VecVirtual {
		sub(k)(lo, v, v)
		VPXOR(sign, v, v)
		VPCMPGTQ(hi, v, v) // v > hi
		VPXOR(none, v, v)
		return v
	}
}
