package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// filter emits what moves the elements from lo to hi together. A mask of those of a vector is the
// number of a permutation that brings them to the front. The whole vector is written, so it ends
// where that would go beyond the room there is.
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
	INCQ(done)
	ADDQ(Imm(vector), p)
	JMP(LabelRef("vector"))
	Label("return")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	Store(kept, ReturnIndex(1))
	RET()
}

var tables = map[int]Mem{}

// permutations returns a table of 8 bytes for each mask: which 4 bytes of a vector come to the front.
func permutations(k kind) Mem {
	if table, ok := tables[k.size]; ok {
		return table
	}
	lanes, words := vector/k.size, k.size/4
	table := GLOBL(fmt.Sprintf("front%d", k.size), RODATA|NOPTR)
	for mask := range 1 << lanes {
		var order, at uint64
		for lane := range lanes {
			if mask>>lane&1 == 0 {
				continue
			}
			for word := range words {
				order |= uint64(lane*words+word) << (8 * at)
				at++
			}
		}
		DATA(8*mask, U64(order))
	}
	tables[k.size] = table
	return table
}
