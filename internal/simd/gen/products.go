package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func mul(k kind) instruction {
	return pick(k, [4]instruction{}, [2]instruction{VMULPS, VMULPD})
}

// move loads or stores a vector of floating-point numbers.
func move(k kind) instruction {
	return pick(k, [4]instruction{}, [2]instruction{VMOVUPS, VMOVUPD})
}

// dot emits the sum of products of groups of four vectors, added in the order of sum. A product and an addition are two instructions,
// also where there is one for both: that would round otherwise.
func dot(k kind) {
	name := "dot_" + k.name()
	function(name, fmt.Sprintf("func(x, y *uint8, n int) %s", k.goType()), name+" returns the sum of products of n groups of 128 bytes.")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = zero()
	}
	v := YMM()
	loop(n, "group", func() {
		for i, a := range acc {
			move(k)(Mem{Base: x, Disp: vector * i}, v)
			mul(k)(Mem{Base: y, Disp: vector * i}, v, v)
			add(k)(v, a, a)
		}
		ADDQ(Imm(4*vector), x)
		ADDQ(Imm(4*vector), y)
	})
	reduce(k, acc)
}

// axpy emits y += a x for groups of four vectors.
func axpy(k kind) {
	name := "axpy_" + k.name()
	function(name, fmt.Sprintf("func(y, x *uint8, n int, a %s)", k.goType()), name+" adds a times x to y, n groups of 128 bytes.")
	y, x, n := Load(Param("y"), GP64()), Load(Param("x"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	a := broadcast(k, "a")
	v := YMM()
	loop(n, "group", func() {
		for i := range 4 {
			mul(k)(Mem{Base: x, Disp: vector * i}, a, v)
			add(k)(Mem{Base: y, Disp: vector * i}, v, v)
			move(k)(v, Mem{Base: y, Disp: vector * i})
		}
		ADDQ(Imm(4*vector), x)
		ADDQ(Imm(4*vector), y)
	})
	VZEROUPPER()
	RET()
}

// block emits what adds a times the product of four rows and a panel to four rows. All sums are in registers: two vectors a row.
func block(k kind) {
	name := "block_" + k.name()
	function(name, fmt.Sprintf("func(c *uint8, cStride int, x *uint8, xStride int, panel *uint8, n int, a %s)", k.goType()),
		name+" adds a times the product of four rows of n numbers and a panel to four rows of 64 bytes. Strides are in bytes.")
	c, cStride := Load(Param("c"), GP64()), Load(Param("cStride"), GP64())
	x, xStride := Load(Param("x"), GP64()), Load(Param("xStride"), GP64())
	panel, n := Load(Param("panel"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	third := GP64()
	LEAQ(Mem{Base: x, Index: xStride, Scale: 2}, third)
	var sums [4][2]reg.VecVirtual
	for i := range sums {
		sums[i] = [2]reg.VecVirtual{zero(), zero()}
	}
	left, right, one, product := YMM(), YMM(), YMM(), YMM()
	loop(n, "column", func() {
		move(k)(Mem{Base: panel}, left)
		move(k)(Mem{Base: panel, Disp: vector}, right)
		for i, at := range []Mem{{Base: x}, {Base: x, Index: xStride, Scale: 1}, {Base: third}, {Base: third, Index: xStride, Scale: 1}} {
			pick(k, [4]instruction{}, [2]instruction{VBROADCASTSS, VBROADCASTSD})(at, one)
			mul(k)(left, one, product)
			add(k)(product, sums[i][0], sums[i][0])
			mul(k)(right, one, product)
			add(k)(product, sums[i][1], sums[i][1])
		}
		ADDQ(Imm(uint64(k.size)), x)
		ADDQ(Imm(uint64(k.size)), third)
		ADDQ(Imm(2*vector), panel)
	})
	a := broadcast(k, "a")
	for i := range sums {
		for j, s := range sums[i] {
			mul(k)(a, s, s)
			add(k)(Mem{Base: c, Disp: vector * j}, s, s)
			move(k)(s, Mem{Base: c, Disp: vector * j})
		}
		ADDQ(cStride, c)
	}
	VZEROUPPER()
	RET()
}
