package main

import (
	"encoding/binary"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// filter emits what moves the elements from lo to hi together. A mask of those of a vector is the
// number of a permutation that brings them to the front. The whole vector is written, so it ends
// where that would go beyond the room there is. Of narrow elements, eight are moved at a time: more
// would need a longer table.
func filter(k kind) {
	name := "filter_" + k.name()
	front := permutations(k)
	function(name, fmt.Sprintf("func(dst *uint8, room int, p *uint8, n int, lo, hi %s) (done, kept int)", k.goType()),
		name+" writes the elements from lo to hi of at most n vectors, as long as dst has room for a whole\n// one, and returns how many vectors it has read, and how many elements it has kept.")
	dst, room := Load(Param("dst"), GP64()), Load(Param("room"), GP64()).(reg.GPVirtual)
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	is := chooser(k)
	table, done, kept := GP64(), GP64(), GP64()
	LEAQ(front, table)
	XORQ(done, done)
	XORQ(kept, kept)
	SUBQ(Imm(uint64(vector/k.size)), room) // the last place where a vector fits
	Label("vector")
	CMPQ(done, n)
	JGE(LabelRef("return"))
	CMPQ(kept, room)
	JG(LabelRef("return"))
	move := moveWide
	if k.size < 4 {
		move = moveNarrow
	}
	move(k, p.(reg.Register), dst.(reg.Register), kept, table, is)
	INCQ(done)
	ADDQ(Imm(vector), p)
	JMP(LabelRef("vector"))
	Label("return")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	Store(kept, ReturnIndex(1))
	RET()
}

// moveWide moves a vector, and adds to kept.
func moveWide(k kind, p, dst reg.Register, kept, table reg.GPVirtual, is func(v reg.VecVirtual) reg.VecVirtual) {
	v, copied, order := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: p}, v)
	VMOVDQA(v, copied)
	mask := GP32()
	if k.size == 4 {
		VMOVMSKPS(is(copied), mask)
	} else {
		VMOVMSKPD(is(copied), mask)
	}
	VPMOVZXBD(Mem{Base: table, Index: mask.As64(), Scale: 8}, order)
	VPERMD(v, order, v)
	VMOVDQU(v, Mem{Base: dst, Index: kept, Scale: uint8(k.size)})
	POPCNTL(mask, mask)
	ADDQ(mask.As64(), kept)
}

// moveNarrow does so eight elements at a time. Their bits are 8*k.size after those of the eight before.
func moveNarrow(k kind, p, dst reg.Register, kept, table reg.GPVirtual, is func(v reg.VecVirtual) reg.VecVirtual) {
	v, all := YMM(), GP32()
	VMOVDQU(Mem{Base: p}, v)
	chosen := is(v)
	if k.size == 2 {
		VPACKSSWB(chosen, chosen, chosen) // each half has its eight twice
	}
	VPMOVMSKB(chosen, all)
	for at := 0; at < vector; at += 8 * k.size {
		mask, n, eight := GP32(), GP32(), XMM()
		MOVBLZX(all.As8(), mask)
		SHRL(Imm(uint64(8*k.size)), all)
		POPCNTL(mask, n)
		to := Mem{Base: dst, Index: kept, Scale: uint8(k.size)}
		if k.size == 1 {
			order := XMM()
			VMOVQ(Mem{Base: p, Disp: at}, eight)
			VMOVQ(Mem{Base: table, Index: mask.As64(), Scale: 8}, order)
			VPSHUFB(order, eight, eight)
			VMOVQ(eight, to)
		} else {
			ADDL(mask, mask)
			VMOVDQU(Mem{Base: p, Disp: at}, eight)
			VPSHUFB(Mem{Base: table, Index: mask.As64(), Scale: 8}, eight, eight)
			VMOVDQU(eight, to)
		}
		ADDQ(n.As64(), kept)
	}
}

var tables = map[string]Mem{}

// permutations returns a table by mask: which parts of what was loaded come to the front, a byte for
// each. Parts are of 4 bytes, and of narrow elements of one byte.
func permutations(k kind) Mem {
	lanes, parts := min(8, vector/k.size), k.size
	if k.size >= 4 {
		parts = k.size / 4
	}
	name := fmt.Sprintf("front%dx%d", lanes, parts)
	if table, ok := tables[name]; ok {
		return table
	}
	table := GLOBL(name, RODATA|NOPTR)
	for mask := range 1 << lanes {
		var order [16]byte
		at := 0
		for lane := range lanes {
			if mask>>lane&1 == 0 {
				continue
			}
			for part := range parts {
				order[at] = byte(lane*parts + part)
				at++
			}
		}
		for i := 0; i < lanes*parts; i += 8 {
			DATA(mask*lanes*parts+i, U64(binary.LittleEndian.Uint64(order[i:])))
		}
	}
	tables[name] = table
	return table
}
