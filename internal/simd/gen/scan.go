package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scan emits running sums of groups of two vectors. Within a vector they come about in steps of one,
// two and four elements. From one group to the next there is but one addition that waits for the one
// before. There is a loop for each way to write: exclusive, each sum one element later; and far,
// around the caches, to addresses that are multiples of 32.
//
// To floating-point sums, what comes before is added when they are written. So it does not change how
// they are rounded, and groups can be summed before it is known.
func scan(k kind) {
	what := "before plus the last sum"
	if k.float() {
		what = "the last sum without before"
	}
	name := "scan_" + k.name()
	function(name, fmt.Sprintf("func(dst, x *uint8, n int, before %s, exclusive, far bool) %[1]s", k.goType()),
		fmt.Sprintf("%s writes before plus the running sums of n groups of 64 bytes, and returns %s.", name, what))
	halves := endOfHalves(k)
	s := scanner{k: k, halves: halves, dst: Load(Param("dst"), GP64()), x: Load(Param("x"), GP64()), none: zero()}
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	s.before = broadcast(k, "before")
	if s.carry = s.before; k.float() {
		s.carry = zero()
	}
	for _, exclusive := range []bool{false, true} {
		if !exclusive {
			jumpIf("exclusive", "exclusive")
		} else {
			Label("exclusive")
		}
		label := fmt.Sprintf("far_%v", exclusive)
		jumpIf("far", label)
		loop(n, fmt.Sprint("near_", exclusive), func() { s.group(exclusive, func(v, to Op) { VMOVDQU(v, to) }) })
		JMP(LabelRef("return"))
		Label(label)
		loop(n, fmt.Sprint("stream_", exclusive), func() { s.group(exclusive, func(v, to Op) { VMOVNTDQ(v, to) }) })
		SFENCE()
		if !exclusive {
			JMP(LabelRef("return"))
		}
	}
	Label("return")
	VZEROUPPER()
	giveBack(k, s.carry.AsX())
}

// jumpIf goes on at a label if a parameter is true.
func jumpIf(param, label string) {
	b := Load(Param(param), GP8())
	TESTB(b, b)
	JNZ(LabelRef(label))
}

type scanner struct {
	k                   kind
	dst, x              reg.Register
	halves              reg.VecVirtual // see endOfHalves
	before, carry, none reg.VecVirtual
}

func (s *scanner) group(exclusive bool, write func(v, to Op)) {
	first, second := s.running(0), s.running(vector)
	half := s.last(first)
	add(s.k)(half, second, second)
	all := s.last(second)
	if exclusive {
		first, second = later(s.k, first, s.none), later(s.k, second, half)
	}
	for i, v := range []reg.VecVirtual{first, second} {
		add(s.k)(s.carry, v, v)
		if s.k.float() {
			add(s.k)(s.before, v, v)
		}
		write(v, Mem{Base: s.dst, Disp: vector * i})
	}
	add(s.k)(all, s.carry, s.carry)
	ADDQ(Imm(2*vector), s.x)
	ADDQ(Imm(2*vector), s.dst)
}

// later moves all elements of v by one, and puts one of first in front.
func later(k kind, v, first reg.VecVirtual) reg.VecVirtual {
	moved := YMM()
	VPERM2I128(Imm(0x20), v, first, moved) // the lower half of first, and that of v
	VPALIGNR(Imm(uint64(16-k.size)), moved, v, moved)
	return moved
}

// running returns the running sums of a vector.
func (s *scanner) running(disp int) reg.VecVirtual {
	k, v, shifted := s.k, YMM(), YMM()
	VMOVDQU(Mem{Base: s.x, Disp: disp}, v)
	for width := k.size; width < vector/2; width *= 2 { // in each half of the vector
		VPSLLDQ(Imm(uint64(width)), v, shifted)
		add(k)(shifted, v, v)
	}
	if k.size == 8 {
		VPERMQ(Imm(0x50), v, shifted)
		VPBLENDD(Imm(0xf0), shifted, s.none, shifted)
	} else {
		s.spread(v, shifted)
		VPERM2I128(Imm(0x08), shifted, shifted, shifted)
	}
	add(k)(shifted, v, v) // what the lower half comes to, to the upper
	return v
}

// last returns a vector of the last element of v.
func (s *scanner) last(v reg.VecVirtual) reg.VecVirtual {
	all := YMM()
	if s.k.size == 8 {
		VPERMQ(Imm(0xff), v, all)
	} else {
		s.spread(v, all)
		VPERM2I128(Imm(0x11), all, all, all)
	}
	return all
}

// spread sets each half of a vector to the last element of that half of v.
func (s *scanner) spread(v, to reg.VecVirtual) {
	if s.k.size == 4 {
		VPSHUFD(Imm(0xff), v, to)
	} else {
		VPSHUFB(s.halves, v, to)
	}
}

// endOfHalves returns which bytes spread takes, where elements are narrower than VPSHUFD's.
func endOfHalves(k kind) (v reg.VecVirtual) {
	if k.size >= 4 {
		return nil
	}
	order := GLOBL("last_"+k.name(), RODATA|NOPTR)
	for at := 0; at < vector; at += 8 {
		DATA(at, U64(map[int]uint64{1: 0x0f0f0f0f0f0f0f0f, 2: 0x0f0e0f0e0f0e0f0e}[k.size]))
	}
	v = YMM()
	VMOVDQU(order, v)
	return v
}

// total emits what scan returns, without the rest.
func total(k kind) {
	name := "total_" + k.name()
	function(name, fmt.Sprintf("func(x *uint8, n int) %s", k.goType()), name+" returns what scan_"+k.name()+" returns if sum does.")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	sum := XMM()
	VPXOR(sum, sum, sum)
	loop(n, "group", func() {
		v, w := YMM(), YMM()
		VMOVDQU(Mem{Base: x}, v)
		VMOVDQU(Mem{Base: x, Disp: vector}, w)
		if k.size == 4 {
			VHADDPS(w, v, v)
			VHADDPS(v, v, v)
		} else {
			VHADDPD(w, v, v)
		}
		half := XMM() // each half has two sums now, of the first vector and of the second
		VEXTRACTI128(Imm(1), v, half)
		add(k)(half, v.AsX(), half)
		other := XMM()
		VPSRLDQ(Imm(uint64(k.size)), half, other)
		add(k)(other, half, half)
		if k.size == 4 {
			VADDSS(half, sum, sum)
		} else {
			VADDSD(half, sum, sum)
		}
		ADDQ(Imm(2*vector), x)
	})
	VZEROUPPER()
	Store(sum, ReturnIndex(0))
	RET()
}
