package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fill emits what writes the same 8 bytes everywhere, around the caches.
func fill() {
	function("fill", "func(dst *uint8, n int, v uint64)",
		"fill writes v all over n groups of 128 bytes, from a multiple of 32 on, around the caches.")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	v := broadcast(kind{"u", 8}, "v")
	loop(n, "group", func() {
		for i := range 4 {
			VMOVNTDQ(v, Mem{Base: dst, Disp: vector * i})
		}
		ADDQ(Imm(4*vector), dst)
	})
	SFENCE()
	VZEROUPPER()
	RET()
}
