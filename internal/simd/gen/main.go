// Command gen writes the assembly of package simd. It is a module of its own, since the root module
// requires nothing. In the folder above, go generate runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A kind of number is known by its size in bytes, and by a letter: i for signed integers, u for
// unsigned ones, f for floating point. Where signs make no difference, all integers are u.
type kind struct {
	letter string
	size   int
}

func (k kind) name() string { return k.letter + string(rune('0'+k.size)) }

func (k kind) float() bool { return k.letter == "f" }

// goType is the type that the stubs have for it.
func (k kind) goType() string {
	return map[string]string{
		"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
		"u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
		"f4": "float32", "f8": "float64",
	}[k.name()]
}

var (
	floats   = []kind{{"f", 4}, {"f", 8}}
	unsigned = []kind{{"u", 1}, {"u", 2}, {"u", 4}, {"u", 8}}
	signed   = []kind{{"i", 1}, {"i", 2}, {"i", 4}, {"i", 8}}
)

const vector = 32 // bytes

type instruction func(ops ...Op)

// pick returns the instruction for the size of k, or for floats that of their size.
func pick(k kind, byBytes [4]instruction, byFloats [2]instruction) instruction {
	if k.float() {
		return byFloats[k.size/8]
	}
	return byBytes[map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[k.size]]
}

func add(k kind) instruction {
	return pick(k, [4]instruction{VPADDB, VPADDW, VPADDD, VPADDQ}, [2]instruction{VADDPS, VADDPD})
}

func sub(k kind) instruction {
	return pick(k, [4]instruction{VPSUBB, VPSUBW, VPSUBD, VPSUBQ}, [2]instruction{VSUBPS, VSUBPD})
}

// broadcast loads a parameter into all lanes of a vector. (VPBROADCASTD would do the same as
// VBROADCASTSS, but go vet takes its D for a double.)
func broadcast(k kind, param string) reg.VecVirtual {
	v := YMM()
	at, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	pick(k, [4]instruction{VPBROADCASTB, VPBROADCASTW, VBROADCASTSS, VPBROADCASTQ}, [2]instruction{VBROADCASTSS, VBROADCASTSD})(at.Addr, v)
	return v
}

func zero() reg.VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

// function begins one that gets n groups of elements.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc)
}

// loop emits body for each of n groups.
func loop(n reg.GPVirtual, name string, body func()) {
	TESTQ(n, n)
	JZ(LabelRef(name + "_done"))
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
	Label(name + "_done")
}

// ahead is how many bytes before they are needed they are asked for: a page, for the processor itself
// does not look beyond one. Of 128 MiB of integers, the least and the greatest took 1.15 ns an
// element without, and 0.73 with; 512 to 2,048 bytes were less sure.
const ahead = 4096

// prefetch asks for the lines of so many bytes.
func prefetch(p reg.Register, bytes int) {
	for disp := 0; disp < bytes; disp += 64 {
		PREFETCHT0(Mem{Base: p, Disp: ahead + disp})
	}
}

func main() {
	ConstraintExpr("!purego,!race")
	cpu()
	for _, k := range append(unsigned, floats...) {
		sum(k)
	}
	for _, k := range append(signed, unsigned...) {
		minMax(k)
		if k.size == 8 {
			minMax512(k)
		}
	}
	minMaxOfBits(kind{"f", 4})
	minMaxOfBits(kind{"f", 8})
	minMaxOfDoubles()
	for _, k := range append(unsigned, floats...) {
		between(k)
	}
	fill()
	for _, k := range append(unsigned, floats...) {
		filter(k)
	}
	for _, k := range append(unsigned, floats...) {
		scan(k)
	}
	for _, k := range floats {
		total(k)
	}
	for _, k := range floats {
		dot(k)
		axpy(k)
		block(k)
	}
	Generate()
}

// cpu emits what asks the processor.
func cpu() {
	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (a, b, c, d uint32)")
	Doc("cpuid asks the processor what it is.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	for i, r := range []reg.Register{reg.EAX, reg.EBX, reg.ECX, reg.EDX} {
		Store(r, ReturnIndex(i))
	}
	RET()

	TEXT("xgetbv", NOSPLIT, "func() (low, high uint32)")
	Doc("xgetbv returns which registers the operating system saves.")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, ReturnIndex(0))
	Store(reg.EDX, ReturnIndex(1))
	RET()
}
