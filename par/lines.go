package par

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// ReduceLines cuts the contents of r into blocks of whole lines, and returns f of the first op f of the second op …, or
// empty if r has nothing. It is [MapReduce] for a file that may exceed memory. One worker at a time reads while others
// call f. op is called for one pair at a time, in the order of the blocks. Each result of f and op is used once, so op
// may change and return its arguments.
//
// f receives the offset of the block in r, and the block. It usually ranges over bytes.Lines, and collects results in a
// value of its own, such as a map. A line ends with \n, which belongs to the block, as does a \r before it; only the
// last line of all may lack it. f must not retain the block, whose memory is reused.
//
// A block has 256 KiB, or the bytes that [WithGrain] sets, less the beginning of a line that ends in the next. A longer
// line extends its block, up to 64 MiB; beyond that, the error wraps [bufio.ErrTooLong]. Blocks depend only on these
// sizes and the input, so the result is the same on any number of workers, even if op is only nearly associative. If op
// is slow beside f, as it may be with maps, use longer blocks. If single lines are slow, use [ForLines], which divides
// blocks by line. [InFlight] limits the blocks in memory; the default is 4 for each worker.
//
// ReduceLines returns the error of the first block that has one, or that of r if all blocks before it succeeded, with
// the result of the blocks before. A line cut off by an error of r is not passed to f. [WithContext] may stop it
// between blocks. A worker keeps its slot while it reads. On a closed pool ReduceLines returns [filch.ErrClosed]
// without reading.
func ReduceLines[R any](s filch.Scope, r io.Reader, empty R, f func(at int64, lines []byte) (R, error), op func(a, b R) R, opts ...Option) (R, error) {
	const name = "ReduceLines"
	check(name, s)
	checkFunc(name, f == nil || op == nil)
	return reduceLines(name, s, r, empty, configOf(name, opts, grain|workersAtOnce|inFlight|untilDone),
		func(_ filch.Scope, b block) (R, error) { return f(b.at, b.lines) }, op)
}

// ForLines calls f for each line of r, for several at the same time. f receives the offset of the line in r, and the
// line without its end, \n or \r\n. Empty lines are included. f must not retain the line, whose memory is reused.
//
// ForLines returns the error of the first line that has one, or that of r if all lines before it succeeded. After a
// failure, f is not called for later lines that have not begun. [WithContext] may stop it between lines. Otherwise it
// is like [ReduceLines], which is faster for tiny lines.
func ForLines(s filch.Scope, r io.Reader, f func(at int64, line []byte) error, opts ...Option) error {
	const name = "ForLines"
	check(name, s)
	checkFunc(name, f == nil)
	c := configOf(name, opts, grain|workersAtOnce|inFlight|untilDone)
	most := c.most
	c.most = min(most, 1) // with a limit, one block at a time, because its lines may be few and slow
	room := shelf[[]int]{fresh: func() []int { return nil }}
	var failed atomic.Int64 // the offset of the first failed line of any block, or -1 if a call did not return
	failed.Store(math.MaxInt64)
	type none = struct{}
	_, err := reduceLines(name, s, r, none{}, c, func(s filch.Scope, b block) (none, error) {
		ends := appendEnds(room.take()[:0], b.lines)
		defer func() { room.put(ends) }()
		line := func(i int) error {
			begin := 0
			if i > 0 {
				begin = ends[i-1]
			}
			at := b.at + int64(begin)
			if at > failed.Load() {
				return nil // the results of this block are not used
			}
			returned := false
			defer func() {
				if !returned {
					failed.Store(-1)
				}
			}()
			err := f(at, withoutEnd(b.lines[begin:ends[i]]))
			returned = true
			for old := failed.Load(); err != nil && at < old && !failed.CompareAndSwap(old, at); {
				old = failed.Load()
			}
			return err
		}
		stop := config{ctx: c.ctx, most: most}
		from, first := someErr(s, len(ends), f, stop, line)
		if from == len(ends) {
			return none{}, first.err(false)
		}
		return none{}, restErr(s, from, len(ends), f, stop, line, first)
	}, func(a, _ none) none { return a })
	return err
}

// withoutEnd returns a line without \n or \r\n. Appending to it copies it.
func withoutEnd(line []byte) []byte {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		if n--; n > 0 && line[n-1] == '\r' {
			n--
		}
	}
	return line[:n:n]
}

// reduceLines is a Pipeline: its source reads, a stage calls f, and its sink calls op.
func reduceLines[R any](name string, s filch.Scope, r io.Reader, empty R, c config, f func(s filch.Scope, b block) (R, error), op func(a, b R) R) (R, error) {
	if r == nil {
		panic("par: " + name + ": r is nil")
	}
	cut := newCutter(name, r, c.grain)
	p := addStage(name, cut.blocks(), 0, func(s filch.Scope, b block) (v R, err error) {
		if b.err != nil {
			return v, b.err
		}
		v, err = f(s, b)
		cut.room.put(b.room)
		return v, err
	})
	var opts []Option
	if c.inFlight > 0 {
		opts = append(opts, InFlight(c.inFlight))
	}
	if c.most > 0 {
		opts = append(opts, WithMaxWorkers(c.most))
	}
	if c.ctx != nil {
		opts = append(opts, WithContext(c.ctx))
	}
	all, some := empty, false
	err := p.Run(s, func(v R) error {
		if some {
			v = op(all, v)
		}
		all, some = v, true
		return nil
	}, opts...)
	return all, err
}

// block is a series of lines, or an error in their place.
type block struct {
	at    int64 // its offset
	lines []byte
	room  []byte // the memory of lines, and of the bytes read after them
	err   error
}

// appendEnds appends the end of each line.
func appendEnds(ends []int, lines []byte) []int {
	at := 0
	for line := range bytes.Lines(lines) {
		at += len(line)
		ends = append(ends, at)
	}
	return ends
}

// cutter cuts what it reads into blocks. One worker at a time is in next; room is for all.
type cutter struct {
	name string
	r    io.Reader
	size int
	at   int64  // where the next block begins
	rest []byte // the bytes of it read so far, after the lines of the previous block in its memory
	err  error  // of r, or a line too long; io.EOF when everything has been passed on
	room shelf[[]byte]
}

const (
	blockBytes = 256 << 10
	firstBytes = 4 << 10  // initial memory of a block, since most files are small; it grows eightfold
	mostLine   = 64 << 20 // the maximum length of a block, unless the grain is longer
	mostEmpty  = 100      // reads without a byte, as in package bufio
)

func newCutter(name string, r io.Reader, size int) *cutter {
	if size == 0 {
		size = blockBytes
	}
	c := &cutter{name: name, r: r, size: size}
	c.room.fresh = func() []byte { return make([]byte, min(size, firstBytes)) }
	return c
}

// blocks is like From, but needs no iter.Pull, and so no goroutine of its own.
func (c *cutter) blocks() *Pipeline[block] {
	return &Pipeline[block]{func(l *line) []block {
		slots := make([]block, l.inFlight)
		l.pull = func(slot int) (ok bool) {
			slots[slot], ok = c.next()
			return ok
		}
		l.stop = func() {}
		return slots
	}}
}

// next returns the next block.
func (c *cutter) next() (b block, ok bool) {
	if c.err == io.EOF {
		return block{}, false
	}
	if c.err != nil {
		b.err, c.err = c.err, io.EOF
		return b, true
	}
	buf, end := c.room.take(), 0
	buf = append(buf[:0], c.rest...) // even if they are the same memory
	for size := c.size; ; size = min(2*size, max(mostLine, c.size)) {
		buf = c.read(buf, size)
		if end = bytes.LastIndexByte(buf, '\n') + 1; c.err == io.EOF {
			end = len(buf)
		}
		if end > 0 || c.err != nil {
			break
		}
		if size >= max(mostLine, c.size) {
			c.err = fmt.Errorf("par: %s: the line at byte %d is longer than %d bytes: %w", c.name, c.at, size, bufio.ErrTooLong)
			break
		}
	}
	if end == 0 { // the end, or an error
		return c.next()
	}
	b = block{at: c.at, lines: buf[:end:end], room: buf}
	c.at, c.rest = c.at+int64(end), buf[end:]
	return b, true
}

// read reads until buf has size bytes, or an error occurs.
func (c *cutter) read(buf []byte, size int) []byte {
	for empty := 0; len(buf) < size && c.err == nil; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(size-len(buf), 7*len(buf)))
		}
		free := buf[len(buf):min(size, cap(buf))]
		n, err := c.r.Read(free)
		if n < 0 || n > len(free) {
			panic(fmt.Sprintf("par: %s: Read of r returned %d for %d bytes", c.name, n, len(free)))
		}
		if empty++; n > 0 {
			empty = 0
		}
		if buf, c.err = buf[:len(buf)+n], err; err == nil && empty == mostEmpty {
			c.err = io.ErrNoProgress
		}
	}
	return buf
}
