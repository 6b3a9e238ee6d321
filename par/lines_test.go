package par

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// linesOf returns files with what lines may be like, by name.
func linesOf(r *rand.Rand) map[string]string {
	long := strings.Repeat("x", 3000)
	random := make([]byte, 20_000)
	for i := range random {
		random[i] = "\n\r ab"[r.IntN(5)]
	}
	return map[string]string{
		"nothing":             "",
		"an end":              "\n",
		"ends":                "\n\n\n",
		"no end":              "a",
		"a line":              "a\n",
		"no end at the end":   "one\ntwo\nthree",
		"Windows":             "one\r\ntwo\r\n\r\nthree\r\n",
		"Windows without \\n": "one\r\ntwo\r",
		"\\r inside":          "a\rb\r\r\nc\n\r",
		"long":                "a\n" + long + "\n" + long + long + "\nb\n" + long,
		"long alone":          long,
		"random":              string(random),
		"many":                strings.Repeat("a line like others\n", 2000),
	}
}

// expected are the lines with where they begin.
func expected(text string) (want []string) {
	at := 0
	for line := range strings.Lines(text) {
		end := strings.TrimSuffix(line, "\n")
		if end != line {
			end = strings.TrimSuffix(end, "\r")
		}
		want = append(want, fmt.Sprintf("%d %q", at, end))
		at += len(line)
	}
	return want
}

// Each line is passed once, with where it begins, and blocks are whole lines, which come together in order.
func TestEachLineIsPassedOnce(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for name, text := range linesOf(rand.New(rand.NewPCG(1, 1))) {
			for _, opts := range [][]Option{nil, {WithGrain(1000), InFlight(2)}, {WithGrain(7)}, {WithGrain(1)}, {WithGrain(math.MaxInt)}}[:ifRace(3, 5)] {
				for kind, reader := range map[string]func() io.Reader{
					"at once":        func() io.Reader { return strings.NewReader(text) },
					"byte by byte":   func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) },
					"EOF with data":  func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) },
					"now and then 0": func() io.Reader { return &lazyReader{r: strings.NewReader(text)} },
				} {
					if kind != "at once" && len(text) > 30_000 {
						continue
					}
					var mu sync.Mutex
					var got []string
					appended := 0
					err := ForLines(p, reader(), func(at int64, line []byte) error {
						mu.Lock()
						defer mu.Unlock()
						got = append(got, fmt.Sprintf("%d %q", at, line))
						appended += len(append(line, "!!!"...)) // which is not written to the next line
						return nil
					}, opts...)
					slices.Sort(got)
					want := expected(text)
					slices.Sort(want)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%s, %s, %d workers, options %d: %d lines, not %d: %v", name, kind, workers, len(opts), len(got), len(want), err)
					}
					all, err := ReduceLines(p, reader(), "zero", func(at int64, lines []byte) (string, error) {
						if !strings.HasPrefix(text[at:], string(lines)) {
							return "", fmt.Errorf("%q is not at %d", lines, at)
						}
						if end := int(at) + len(lines); len(lines) == 0 || lines[len(lines)-1] != '\n' && end != len(text) {
							return "", fmt.Errorf("%q are no whole lines", lines)
						}
						return string(lines), nil
					}, func(a, b string) string { return a + b }, opts...)
					if want := text; err != nil || all != text && (text != "" || all != "zero") {
						t.Errorf("%s, %s, %d workers: %d bytes, not %d: %v", name, kind, workers, len(all), len(want), err)
					}
				}
			}
		}
		p.Close()
	}
}

// lazyReader reads nothing at every other call, and else up to three bytes.
type lazyReader struct {
	r     io.Reader
	calls int
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.calls++; l.calls%2 == 0 {
		return 0, nil
	}
	return l.r.Read(p[:min(len(p), 3)])
}

// Where blocks end depends on the size and the text alone, so what is nearly associative comes to the same.
func TestBlocksOfLinesDoNotDependOnTiming(t *testing.T) {
	text := linesOf(rand.New(rand.NewPCG(1, 1)))["random"]
	first := ""
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
			got, err := ReduceLines(p, r, "", func(at int64, lines []byte) (string, error) { return fmt.Sprint(at, len(lines)), nil },
				func(a, b string) string { return "(" + a + " " + b + ")" }, WithGrain(100))
			if first == "" {
				first = got
			}
			if err != nil || got != first {
				t.Errorf("%d workers: %v, %s, not %s", workers, err, got, first)
			}
		}
		p.Close()
	}
}

// The first error in the order of the file is returned, and so is one of the Reader, behind all whole lines
// before it.
func TestLinesThatFail(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		text := strings.Repeat("line\n", 10_000)
		for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(64)}} {
			err := ForLines(p, strings.NewReader(text), func(at int64, _ []byte) error {
				if at >= 20_000 && at%35 == 0 {
					return fmt.Errorf("at %d", at)
				}
				return nil
			}, opts...)
			if want := "at 20020"; fmt.Sprint(err) != want {
				t.Errorf("%v, not %s", err, want)
			}
			n, err := ReduceLines(p, strings.NewReader(text), 0, func(at int64, lines []byte) (int, error) {
				if at <= 20_000 && 20_000 < at+int64(len(lines)) {
					return 0, broken
				}
				return len(lines), nil
			}, add, opts...)
			if err != broken || n > 20_000 || n%5 != 0 || len(opts) == 1 && n < 20_000-64 {
				t.Errorf("%d bytes, and %v", n, err)
			}
			for _, cut := range []int{0, 2, 25_000, 25_002} {
				for _, failure := range []error{broken, io.ErrUnexpectedEOF} {
					r := io.MultiReader(strings.NewReader(text[:cut]), iotest.ErrReader(failure))
					var lines atomic.Int64
					err := ForLines(p, r, func(_ int64, line []byte) error {
						lines.Add(1)
						if string(line) != "line" {
							t.Errorf("%q was cut off", line)
						}
						return nil
					}, opts...)
					if err != failure || int(lines.Load()) != cut/5 {
						t.Errorf("cut at %d: %d lines, %v", cut, lines.Load(), err)
					}
				}
			}
		}
		stuck := &lazyReader{r: readNothing{}}
		if err := ForLines(p, stuck, func(int64, []byte) error { return nil }); err != io.ErrNoProgress || stuck.calls > 1000 {
			t.Errorf("%v after %d reads", err, stuck.calls)
		}
		p.Close()
	}
}

type readNothing struct{}

func (readNothing) Read([]byte) (int, error) { return 0, nil }

// A line has to end some time.
func TestLinesThatAreTooLong(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	endless := io.MultiReader(strings.NewReader("a\n"), zeros{})
	lines := 0
	err := ForLines(p, endless, func(int64, []byte) error { lines++; return nil })
	if !errors.Is(err, bufio.ErrTooLong) || err.Error() != "par: ForLines: the line at byte 2 is longer than 67108864 bytes: bufio.Scanner: token too long" || lines != 1 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// As many blocks are under way as may be, and no more are read.
func TestBlocksAtATime(t *testing.T) {
	for _, most := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			var under, seen atomic.Int64
			_, err := ReduceLines(p, strings.NewReader(strings.Repeat("line\n", 30)), 0, func(int64, []byte) (int, error) {
				if n := under.Add(1); n > seen.Load() {
					seen.Store(n)
				}
				time.Sleep(time.Second)
				under.Add(-1)
				return 1, nil
			}, add, WithGrain(5), InFlight(most))
			if err != nil || int(seen.Load()) != most {
				t.Errorf("%d at a time, not %d: %v", seen.Load(), most, err)
			}
		})
	}
}

// The memory of blocks is used again.
func TestBlocksUnderWay(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	text := bytes.Repeat([]byte("a line of some length, which is of no importance\n"), 400_000) // 20 MB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sum, err := ReduceLines(p, bytes.NewReader(text), 0, func(_ int64, lines []byte) (int, error) {
		return bytes.Count(lines, []byte("\n")), nil
	}, add, InFlight(3))
	runtime.ReadMemStats(&after)
	if err != nil || sum != 400_000 {
		t.Errorf("%d lines, %v", sum, err)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 4*blockBytes {
		t.Errorf("%d bytes were allocated", bytes)
	}
}

func TestLinesWithAContext(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(reason)
		if err := ForLines(p, strings.NewReader("a\n"), func(int64, []byte) error { t.Error("called"); return nil }, WithContext(ctx)); err != reason {
			t.Errorf("ended before: %v", err)
		}
		ctx, cancel = context.WithCancelCause(context.Background())
		var lines atomic.Int64
		err := ForLines(p, zeroLines{}, func(int64, []byte) error {
			if lines.Add(1) == 100_000 {
				cancel(reason)
			}
			return nil
		}, WithContext(ctx), WithGrain(100))
		if err != reason {
			t.Errorf("ended meanwhile: %v", err)
		}
		ctx, cancel = context.WithCancelCause(context.Background())
		lines.Store(0)
		err = ForLines(p, strings.NewReader(strings.Repeat("\n", 1000)), func(int64, []byte) error {
			if lines.Add(1) == 10 {
				cancel(reason)
			}
			return nil
		}, WithContext(ctx))
		if err != reason || lines.Load() == 1000 {
			t.Errorf("ended within a block: %v after %d lines", err, lines.Load())
		}
		p.Close()
	}
}

// ReduceLines looks at the context between blocks.
func TestReduceLinesWithAContext(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		var blocks atomic.Int64
		_, err := ReduceLines(p, strings.NewReader(strings.Repeat("\n", 10_000)), 0, func(int64, []byte) (int, error) {
			if blocks.Add(1) == 10 {
				cancel(reason)
			}
			return 1, nil
		}, add, WithContext(ctx), WithGrain(1))
		if err != reason || blocks.Load() == 10_000 {
			t.Errorf("%d workers: %v after %d blocks", workers, err, blocks.Load())
		}
		p.Close()
	}
}

// zeroLines is a file without an end.
type zeroLines struct{}

func (zeroLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// Panics and Goexits of the function, of op and of the Reader arrive at the caller.
func TestLinesThatPanicOrExit(t *testing.T) {
	text := strings.Repeat("line\n", 1000)
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for name, run := range map[string]func(end func()){
			"f": func(end func()) {
				ForLines(p, strings.NewReader(text), func(at int64, _ []byte) error {
					if at == 2500 {
						end()
					}
					return nil
				}, WithGrain(64))
			},
			"op": func(end func()) {
				ReduceLines(p, strings.NewReader(text), 0, func(int64, []byte) (int, error) { return 1, nil }, func(a, b int) int {
					if a == 10 {
						end()
					}
					return a + b
				}, WithGrain(64))
			},
			"r": func(end func()) {
				ForLines(p, io.MultiReader(strings.NewReader(text), endReader(end)), func(int64, []byte) error { return nil }, WithGrain(64))
			},
		} {
			if err, ok := rig.Catch(func() { run(rig.Bad) }).(*filch.PanicError); !ok || err.Value != "bad" {
				t.Errorf("%s, %d workers: %v", name, workers, err)
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				run(runtime.Goexit)
				t.Errorf("%s, %d workers: a Goexit was lost", name, workers)
			}()
			<-done
		}
		p.Close()
	}
}

type endReader func()

func (end endReader) Read([]byte) (int, error) { end(); return 0, io.EOF }

// On a closed pool nothing is read.
func TestLinesOnAClosedPool(t *testing.T) {
	p := filch.New()
	p.Close()
	r := endReader(func() { t.Error("read") })
	if err := ForLines(p, r, func(int64, []byte) error { return nil }); err != filch.ErrClosed {
		t.Error("ForLines(p, r, …):", err)
	}
	if v, err := ReduceLines(p, r, 7, func(int64, []byte) (int, error) { return 1, nil }, add); err != filch.ErrClosed || v != 7 {
		t.Error("ReduceLines(p, r, 7, …, add):", v, err)
	}
	for want, f := range map[string]func(){
		"par: ForLines: r is nil":    func() { ForLines(p, nil, func(int64, []byte) error { return nil }) },
		"par: ReduceLines: r is nil": func() { ReduceLines(p, nil, 0, func(int64, []byte) (int, error) { return 1, nil }, add) },
		"par: ForLines: there is nothing for AllErrors to do": func() {
			ForLines(p, r, func(int64, []byte) error { return nil }, AllErrors())
		},
	} {
		if v := rig.Catch(f); v != want {
			t.Errorf("%v, not %s", v, want)
		}
	}
}

// A log of 64 MiB in memory: lines are counted by their level, beside a bufio.Scanner that does the same.
func BenchmarkLines(b *testing.B) {
	var text bytes.Buffer
	r := rand.New(rand.NewPCG(1, 1))
	for i := 0; text.Len() < 64<<20; i++ {
		fmt.Fprintf(&text, "2026-11-22T08:%02d:%02d.%06d %s worker %d took a fork of %d after %d us\n", i/60%60, i%60, r.IntN(1_000_000),
			[]string{"INFO", "WARN", "ERROR"}[r.IntN(3)], r.IntN(8), r.IntN(1000), r.IntN(100))
	}
	level := func(line []byte) byte { return line[27] }
	pools := []*filch.Pool{filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))}
	defer pools[0].Close()
	defer pools[1].Close()
	programs := []func(){func() {
		var counts [256]int
		sc := bufio.NewScanner(bytes.NewReader(text.Bytes()))
		for sc.Scan() {
			counts[level(sc.Bytes())]++
		}
		keep = counts
	}}
	for _, p := range pools {
		programs = append(programs, func() {
			keep, _ = ReduceLines(p, bytes.NewReader(text.Bytes()), nil, func(_ int64, lines []byte) (*[256]int, error) {
				counts := new([256]int)
				for line := range bytes.Lines(lines) {
					counts[level(line)]++
				}
				return counts, nil
			}, func(a, b *[256]int) *[256]int {
				for i, n := range b {
					a[i] += n
				}
				return a
			})
		}, func() {
			var counts [256]atomic.Int64
			keep = ForLines(p, bytes.NewReader(text.Bytes()), func(_ int64, line []byte) error {
				if level(line) == 'E' {
					counts['E'].Add(1)
				}
				return nil
			})
		})
	}
	benchmarkBeside(b, []string{"ReduceLines-1", "ForLines-1", "ReduceLines-2", "ForLines-2"}, programs...)
}

// Once a line has failed, or does not return, no later one begins, of other blocks either.
func TestNoLineBeginsAfterOneThatFailed(t *testing.T) {
	for name, end := range map[string]func() error{
		"error":  func() error { return io.ErrClosedPipe },
		"panic":  func() error { panic(io.ErrClosedPipe) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			begin := time.Now()
			var err error
			var late atomic.Int32
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if v := recover(); v != nil {
						err = v.(error)
					}
				}()
				err = ForLines(p, strings.NewReader(strings.Repeat("x\n", 40)), func(at int64, _ []byte) error {
					if at == 0 { // of the first of two blocks
						time.Sleep(1500 * time.Millisecond)
						return end()
					}
					if time.Since(begin) > 1600*time.Millisecond {
						late.Add(1)
					}
					time.Sleep(time.Second)
					return nil
				}, WithGrain(40), InFlight(2))
			}()
			<-done
			if n := late.Load(); n > 0 || name != "Goexit" && !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: %d lines began afterwards, and the end is %v", name, n, err)
			}
		})
	}
}

// A Read that returns a number that cannot be is named.
func TestReaderThatCannotCount(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{-1, 1 << 30} {
		want := fmt.Sprintf("par: ForLines: Read of r returned %d for 4096 bytes", n)
		v := rig.Catch(func() { ForLines(p, countsWrong(n), func(int64, []byte) error { return nil }) })
		if err, ok := v.(*filch.PanicError); !ok || err.Value != want {
			t.Errorf("rig.Catch(…): %v", v)
		}
	}
}

type countsWrong int

func (n countsWrong) Read([]byte) (int, error) { return int(n), io.EOF }
