//go:build !purego && !race

#include "go_asm.h"
#include "textflag.h"

// func avx() bool
TEXT ·avx(SB), NOSPLIT, $0-1
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	ANDL  $(1<<27 | 1<<28), CX // OSXSAVE and AVX
	CMPL  CX, $(1<<27 | 1<<28)
	JNE   no
	XORL  CX, CX
	XGETBV
	ANDL  $6, AX               // XMM and YMM are saved
	CMPL  AX, $6
	SETEQ ret+0(FP)
	RET
no:
	MOVB  $0, ret+0(FP)
	RET

// SUM adds an element of b times a row of the panel, in Y0 and Y1, to the sums of a row.
#define SUM(b, left, right) \
	VBROADCASTSD b, Y2 \
	VMULPD Y0, Y2, Y3 \
	VADDPD Y3, left, left \
	VMULPD Y1, Y2, Y3 \
	VADDPD Y3, right, right

// ADD adds the sums of a row to a.
#define ADD(left, right) \
	VADDPD  (DI), left, left \
	VADDPD  32(DI), right, right \
	VMOVUPD left, (DI) \
	VMOVUPD right, 32(DI) \
	ADDQ    R8, DI

// func addBlockAVX(a, b *float64, n int, c *panel)
TEXT ·addBlockAVX(SB), NOSPLIT, $0-32
	MOVQ   a+0(FP), DI
	MOVQ   b+8(FP), SI
	MOVQ   n+16(FP), R8
	SHLQ   $3, R8            // the bytes of a row
	LEAQ   (SI)(R8*2), BX    // the third row of b
	MOVQ   c+24(FP), DX
	VXORPD Y4, Y4, Y4        // the sums of four rows: Y4 and Y5, to Y10 and Y11
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9
	VXORPD Y10, Y10, Y10
	VXORPD Y11, Y11, Y11
	MOVQ   $const_tile, CX
next:
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	SUM((SI), Y4, Y5)
	SUM((SI)(R8*1), Y6, Y7)
	SUM((BX), Y8, Y9)
	SUM((BX)(R8*1), Y10, Y11)
	ADDQ $8, SI
	ADDQ $8, BX
	ADDQ $64, DX
	DECQ CX
	JNZ  next
	ADD(Y4, Y5)
	ADD(Y6, Y7)
	ADD(Y8, Y9)
	ADD(Y10, Y11)
	VZEROUPPER
	RET
