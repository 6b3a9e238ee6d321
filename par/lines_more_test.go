package par

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

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
