package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A step takes a vector into what is known so far.
type step func(v, acc reg.VecVirtual)

// extremes is a kernel that takes each vector of groups of four by some steps, and keeps four results
// of each step, so that none waits for the one before.
type extremes struct {
	steps  []step
	flip   func(v reg.VecVirtual)  // what is done to a vector before, and to results after; or nil
	each   func(v reg.VecVirtual)  // what else is done with a vector; or nil
	others func() []reg.VecVirtual // what that keeps, one of each; or nil
}

// minMax emits the least and the greatest of each lane. AVX2 compares no integers of 64 bits but
// signed ones: unsigned ones are turned into those and back.
//
// With AVX-512 there is one instruction for integers of 64 bits, also in vectors of 32 bytes, instead
// of a comparison and a choice: of 10^8 bytes, one processor read 12 GB/s, and with AVX2 7.7.
func minMax(k kind) {
	e := extremes{steps: []step{lesser(k), greater(k)}}
	var sign reg.VecVirtual
	if k.name() == "u8" {
		e.others = func() []reg.VecVirtual { sign = topBits(); return nil }
		e.flip = func(v reg.VecVirtual) { VPXOR(sign, v, v) }
	}
	e.emit("minmax_"+k.name(), "the least and the greatest")
}

func minMax512(k kind) {
	e := extremes{steps: []step{by(VPMINSQ), by(VPMAXSQ)}}
	if k.letter == "u" {
		e.steps = []step{by(VPMINUQ), by(VPMAXUQ)}
	}
	e.emit("minmax_"+k.name()+"_512", "the least and the greatest")
}

// minMaxOfBits takes floating-point numbers for the integers that their bits are: with signs
// the greatest integer is the greatest number, unless all numbers are negative. Without signs the greatest
// integer is the least number, if one is negative; the least integer is the least number if none is,
// and the greatest if all are. NaN is beyond the infinities.
//
// VMINPS knows neither NaN nor signs of zeros, so that it takes four steps more. In the cache it took
// 1.4 times as long for float32, and 0.7 times for float64; from memory it read 9.5 GB/s in both,
// and this way 12.
func minMaxOfBits(k kind) {
	name, steps := "minmax_"+k.name(), []step{by(VPMINUD), by(VPMAXUD), by(VPMAXSD)}
	if k.size == 8 {
		name, steps = name+"_512", []step{by(VPMINUQ), by(VPMAXUQ), by(VPMAXSQ)}
	}
	extremes{steps: steps}.emit(name, "the least and the greatest integer without signs, and the greatest with signs,")
}

// minMaxOfDoubles is for processors without AVX-512: integers of 64 bits took 2.3 times as long in the
// cache. Three vectors more say where an element was not comparable, and the bits that any element
// had, and that all had.
func minMaxOfDoubles() {
	var odd, anyHas, allHave reg.VecVirtual
	extremes{
		steps: []step{by(VMINPD), by(VMAXPD)},
		others: func() []reg.VecVirtual {
			odd, anyHas, allHave = zero(), zero(), YMM()
			VPCMPEQD(allHave, allHave, allHave)
			return []reg.VecVirtual{odd, anyHas, allHave}
		},
		each: func(v reg.VecVirtual) {
			unordered := YMM()
			VCMPPD(Imm(3), v, v, unordered)
			VPOR(unordered, odd, odd)
			VPOR(v, anyHas, anyHas)
			VPAND(v, allHave, allHave)
		},
	}.emit("minmax_f8", "the least and the greatest, where one was not comparable, the bits that any had, and those that all had,")
}

func (e extremes) emit(name, results string) {
	function(name, "func(p *uint8, n int, out *uint8)", name+" writes "+results+" of each lane of n groups of 128 bytes, n being 1 at least.")
	p, n, out := Load(Param("p"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual), Load(Param("out"), GP64())
	var others []reg.VecVirtual
	if e.others != nil {
		others = e.others()
	}
	known := make([][4]reg.VecVirtual, len(e.steps))
	for i := range 4 {
		first := e.load(p, i)
		for s := range known {
			known[s][i] = YMM()
			VMOVDQA(first, known[s][i])
		}
	}
	loop(n, "group", func() {
		prefetch(p.(reg.Register), 4*vector)
		for i := range 4 {
			v := e.load(p, i)
			for s, step := range e.steps {
				step(v, known[s][i])
			}
			if e.each != nil {
				e.each(v)
			}
		}
		ADDQ(Imm(4*vector), p)
	})
	var all []reg.VecVirtual
	for s, step := range e.steps {
		for i := 3; i > 0; i-- {
			step(known[s][i], known[s][0])
		}
		if e.flip != nil {
			e.flip(known[s][0])
		}
		all = append(all, known[s][0])
	}
	for i, r := range append(all, others...) {
		VMOVDQU(r, Mem{Base: out, Disp: vector * i})
	}
	VZEROUPPER()
	RET()
}

// load loads vector i of a group.
func (e extremes) load(p Op, i int) reg.VecVirtual {
	v := YMM()
	VMOVDQU(Mem{Base: p.(reg.Register), Disp: vector * i}, v)
	if e.flip != nil {
		e.flip(v)
	}
	return v
}

// by is a step by one instruction.
func by(f instruction) step { return func(v, acc reg.VecVirtual) { f(v, acc, acc) } }

// compare makes an instruction of a comparison with a predicate.
func compare(f func(ops ...Op), predicate uint8) instruction {
	return func(ops ...Op) { f(Imm(uint64(predicate)), ops[0], ops[1], ops[2]) }
}

// lesser is the step to the least integer, and greater to the greatest.
func lesser(k kind) step {
	if k.letter == "i" {
		return by(pick(k, [4]instruction{VPMINSB, VPMINSW, VPMINSD, smaller(false)}, [2]instruction{}))
	}
	return by(pick(k, [4]instruction{VPMINUB, VPMINUW, VPMINUD, smaller(false)}, [2]instruction{}))
}

func greater(k kind) step {
	if k.letter == "i" {
		return by(pick(k, [4]instruction{VPMAXSB, VPMAXSW, VPMAXSD, smaller(true)}, [2]instruction{}))
	}
	return by(pick(k, [4]instruction{VPMAXUB, VPMAXUW, VPMAXUD, smaller(true)}, [2]instruction{}))
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
