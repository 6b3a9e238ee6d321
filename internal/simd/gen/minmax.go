package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// minMax emits the least and the greatest of each lane, of groups of four vectors. AVX2 compares no
// integers of 64 bits but signed ones: unsigned ones are turned into those and back. In floating
// point VMINPD knows neither NaN nor signs of zeros. So there are three more vectors: where
// an element was not comparable, and the bits that any element had, and that all had.
//
// With AVX-512 there is one instruction for integers of 64 bits, also in vectors of 32 bytes, instead
// of a comparison and a choice: of 10^8 bytes, one processor read 12 GB/s, and with AVX2 7.7.
func minMax(k kind, avx512 bool) {
	name := "minmax_" + k.name()
	if avx512 {
		name += "_512"
		minMaxBy(k, name, lesser512, greater512, false)
		return
	}
	minMaxBy(k, name, lesser, greater, k.name() == "u8")
}

// minMaxBy turns unsigned numbers into signed ones if flipped.
func minMaxBy(k kind, name string, lesser, greater func(k kind, v, acc reg.VecVirtual), flipped bool) {
	function(name, "func(p *uint8, n int, out *uint8)", name+" writes the least and the greatest of each lane of n groups of 128 bytes, n being 1 at least.")
	p, n, out := Load(Param("p"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual), Load(Param("out"), GP64())
	flip := func(v reg.VecVirtual) {}
	if flipped {
		sign := topBits()
		flip = func(v reg.VecVirtual) { VPXOR(sign, v, v) }
	}
	var least, most [4]reg.VecVirtual
	for i := range least {
		least[i], most[i] = YMM(), YMM()
		VMOVDQU(Mem{Base: p, Disp: vector * i}, least[i])
		flip(least[i])
		VMOVDQA(least[i], most[i])
	}
	var odd, anyHas, allHave reg.VecVirtual
	if k.float() {
		odd, anyHas, allHave = zero(), zero(), YMM()
		VPCMPEQD(allHave, allHave, allHave)
	}
	loop(n, "group", func() {
		prefetch(p.(reg.Register), 4*vector)
		for i := range least {
			v := YMM()
			VMOVDQU(Mem{Base: p, Disp: vector * i}, v)
			flip(v)
			lesser(k, v, least[i])
			greater(k, v, most[i])
			if k.float() {
				unordered := YMM()
				pick(k, [4]instruction{}, [2]instruction{compare(VCMPPS, 3), compare(VCMPPD, 3)})(v, v, unordered)
				VPOR(unordered, odd, odd)
				VPOR(v, anyHas, anyHas)
				VPAND(v, allHave, allHave)
			}
		}
		ADDQ(Imm(4*vector), p)
	})
	for i := 3; i > 0; i-- {
		lesser(k, least[i], least[0])
		greater(k, most[i], most[0])
	}
	flip(least[0])
	flip(most[0])
	results := []reg.VecVirtual{least[0], most[0]}
	if k.float() {
		results = append(results, odd, anyHas, allHave)
	}
	for i, r := range results {
		VMOVDQU(r, Mem{Base: out, Disp: vector * i})
	}
	VZEROUPPER()
	RET()
}

// compare makes an instruction of a comparison with a predicate.
func compare(f func(ops ...Op), predicate uint8) instruction {
	return func(ops ...Op) { f(Imm(uint64(predicate)), ops[0], ops[1], ops[2]) }
}

// lesser sets acc to the lesser of acc and v, and greater to the greater.
func lesser(k kind, v, acc reg.VecVirtual) {
	switch k.letter {
	case "i":
		pick(k, [4]instruction{VPMINSB, VPMINSW, VPMINSD, smaller(false)}, [2]instruction{})(v, acc, acc)
	default:
		pick(k, [4]instruction{VPMINUB, VPMINUW, VPMINUD, smaller(false)}, [2]instruction{VMINPS, VMINPD})(v, acc, acc)
	}
}

func greater(k kind, v, acc reg.VecVirtual) {
	switch k.letter {
	case "i":
		pick(k, [4]instruction{VPMAXSB, VPMAXSW, VPMAXSD, smaller(true)}, [2]instruction{})(v, acc, acc)
	default:
		pick(k, [4]instruction{VPMAXUB, VPMAXUW, VPMAXUD, smaller(true)}, [2]instruction{VMAXPS, VMAXPD})(v, acc, acc)
	}
}

func lesser512(k kind, v, acc reg.VecVirtual) {
	if k.letter == "i" {
		VPMINSQ(v, acc, acc)
		return
	}
	VPMINUQ(v, acc, acc)
}

func greater512(k kind, v, acc reg.VecVirtual) {
	if k.letter == "i" {
		VPMAXSQ(v, acc, acc)
		return
	}
	VPMAXUQ(v, acc, acc)
}

// smaller is the least of two signed integers of 64 bits, or the greatest.
func smaller(greatest bool) instruction {
	return func(ops ...Op) {
		v, acc, mask := ops[0], ops[1], YMM()
		if greatest {
			VPCMPGTQ(acc, v, mask) // v > acc
		} else {
			VPCMPGTQ(v, acc, mask) // acc > v
		}
		VBLENDVPD(mask, v, acc, ops[2])
	}
}

// topBits has the highest bit of each 64 set.
func topBits() reg.VecVirtual {
	v := YMM()
	VPCMPEQD(v, v, v)
	VPSLLQ(Imm(63), v, v)
	return v
}
