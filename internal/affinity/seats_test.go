package affinity

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a kernel whose threads the tests number. It refuses what refuses says.
type fake struct {
	mu      sync.Mutex
	thread  int // of the next Take
	masks   map[int]Mask
	refuses func(m Mask) error
}

var errRefused = errors.New("refused")

func newFake() *fake { return &fake{thread: 1, masks: map[int]Mask{}} }

func (k *fake) on(thread int) *fake {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.thread = thread
	return k
}

func (k *fake) Thread() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.thread
}

func (k *fake) Mask(thread int) (Mask, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if thread == 0 {
		thread = k.thread
	}
	if m := k.masks[thread]; m != nil {
		return m, nil
	}
	return Mask{0xff}, nil
}

func (k *fake) SetMask(thread int, m Mask) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses != nil {
		if err := k.refuses(m); err != nil {
			return err
		}
	}
	if thread == 0 {
		thread = k.thread
	}
	k.masks[thread] = m
	return nil
}

func (k *fake) allows(t *testing.T, thread int, want ...int) {
	t.Helper()
	m, _ := k.on(thread).Mask(0)
	if got := m.Processors(); !slices.Equal(got, want) {
		t.Errorf("thread %d may run on %v, not on %v", thread, got, want)
	}
}

func isLoad(t *testing.T, s *Seats, pinned int, want ...int) {
	t.Helper()
	if load, n := s.Load(); n != pinned || !slices.Equal(load, want) {
		t.Errorf("%d are pinned, %v run; not %d, %v", n, load, pinned, want)
	}
}

func none(t *testing.T) func(error) {
	return func(err error) { t.Errorf("refused: %v", err) }
}

var all = []int{0, 1, 2, 3, 4, 5, 6, 7}

// Goroutines take the processor that the fewest are on, in order, as long as fewer run than there are workers.
func TestSeatsAreTakenInOrder(t *testing.T) {
	k := newFake()
	s := New(k, []int{5, 3}, none(t))
	var seats []*Seat
	for i, want := range []int{5, 3, 5, 3, -1} {
		k.on(i + 1)
		seats = append(seats, s.Take(4))
		if got := seats[i].Processor(); got != want {
			t.Errorf("seat %d is on %d, not on %d", i, got, want)
		}
	}
	isLoad(t, s, 4, 2, 2)
	k.allows(t, 1, 5)
	k.allows(t, 2, 3)
	k.allows(t, 5, all...)
	s.Leave(seats[1])
	k.allows(t, 2, all...)
	if n := k.on(5); s.Take(4).Processor() != 3 {
		t.Errorf("the processor that is free is not taken: %v", n.masks)
	}
}

// A processor that is lent is for the next goroutine. What returns takes the least loaded one, and its own if that is as good.
func TestALentProcessorIsForTheNext(t *testing.T) {
	k := newFake()
	s := New(k, []int{0, 1}, none(t))
	a := s.Take(2)
	k.on(2)
	b := s.Take(2)
	k.on(2)
	s.Lend(a) // by another's goroutine, in its name
	isLoad(t, s, 2, 1, 1)
	k.on(1)
	s.Lend(a)
	s.Lend(a)
	isLoad(t, s, 2, 0, 1)
	if a.Processor() != -1 {
		t.Errorf("what waits is on %d", a.Processor())
	}
	k.on(3)
	if c := s.Take(2); c.Processor() != 0 {
		t.Errorf("the next is on %d", c.Processor())
	}
	k.on(2)
	s.Leave(b)
	s.Return(a)
	isLoad(t, s, 2, 1, 0)
	k.on(1)
	s.Return(a)
	s.Return(a)
	if a.Processor() != 1 {
		t.Errorf("what has waited is on %d", a.Processor())
	}
	k.allows(t, 1, 1)
	isLoad(t, s, 2, 1, 1)
	k.on(1)
	s.Lend(a)
	s.Return(a)
	if a.Processor() != 1 {
		t.Errorf("it has moved to %d", a.Processor())
	}
	s.Lend(a)
	s.Leave(a)
	isLoad(t, s, 1, 1, 0)
	k.allows(t, 1, all...)
}

// No more than most wait and run.
func TestThreadsAreBounded(t *testing.T) {
	k := newFake()
	s := New(k, []int{0}, none(t))
	for i := range most {
		k.on(i + 1)
		seat := s.Take(1)
		if seat == nil {
			t.Fatalf("%d are pinned", i)
		}
		s.Lend(seat)
	}
	k.on(most + 1)
	if s.Take(1) != nil {
		t.Error("one more is pinned")
	}
	isLoad(t, s, most, 0)
}

// What the kernel refuses is told once, and then nothing is pinned any more.
func TestARefusalEndsPinning(t *testing.T) {
	k := newFake()
	var told []string
	s := New(k, []int{6, 7}, func(err error) { told = append(told, err.Error()) })
	a := s.Take(4)
	k.refuses = func(m Mask) error {
		if slices.Equal(m.Processors(), []int{7}) {
			return errRefused
		}
		return nil
	}
	k.on(2)
	for range 2 {
		if s.Take(4) != nil {
			t.Error("pinned nonetheless")
		}
	}
	if err := s.Err(); !errors.Is(err, errRefused) || len(told) != 1 || !strings.Contains(told[0], "processor 7: refused") {
		t.Errorf("%v, told %q", err, told)
	}
	isLoad(t, s, 1, 1, 0)
	k.on(1)
	s.Leave(a)
	k.allows(t, 1, all...)
	isLoad(t, s, 0, 0, 0)
}

// If the kernel refuses to move what has waited, it stays.
func TestWhatCannotMoveStays(t *testing.T) {
	k := newFake()
	var told []error
	s := New(k, []int{0, 1}, func(err error) { told = append(told, err) })
	a := s.Take(3)
	k.on(2)
	b := s.Take(3)
	k.on(1)
	s.Lend(a)
	k.on(3)
	c := s.Take(3)
	k.on(2)
	s.Leave(b)
	k.refuses = func(m Mask) error { return errRefused }
	k.on(1)
	s.Return(a)
	if a.Processor() != 0 || len(told) != 1 {
		t.Errorf("it is on %d, told %v", a.Processor(), told)
	}
	isLoad(t, s, 2, 2, 0)
	k.refuses = nil
	s.Leave(a)
	k.on(3)
	s.Leave(c)
	isLoad(t, s, 0, 0, 0)
}

// A thread that cannot be given back as it was ends with its goroutine, and no other runs on it.
func TestAThreadThatStaysNarrowIsNotGivenBack(t *testing.T) {
	if _, err := System.Mask(0); err != nil {
		t.Skip(err)
	}
	before, _ := System.Mask(0)
	k := &stubborn{}
	s := New(k, before.Processors()[:1], none(t))
	over := make(chan struct{})
	go func() {
		defer close(over)
		c := s.Take(1)
		s.Leave(c)
		if m, ok := narrowed.Load(thread{k, c.thread}); ok {
			t.Errorf("the thread that ends is remembered, with %v: its number may be another's", m)
		}
	}()
	<-over
	isLoad(t, s, 0, 0)
	for range 1000 { // so that any thread that is free comes by
		done := make(chan []int)
		go func() {
			m, err := System.Mask(0)
			if err != nil {
				t.Error("System.Mask(0):", err)
			}
			done <- m.Processors()
		}()
		if on := <-done; !slices.Equal(on, before.Processors()) {
			t.Fatalf("a goroutine may run on %v", on)
		}
	}
}

// stubborn narrows masks and never widens them.
type stubborn struct{ system }

func (k *stubborn) SetMask(thread int, m Mask) error {
	if len(m.Processors()) > 1 {
		return errRefused
	}
	return k.system.SetMask(thread, m)
}

// A nil Seat is that of a goroutine that is not pinned.
func TestANilSeatDoesNothing(t *testing.T) {
	var seat *Seat
	s := New(newFake(), []int{0}, none(t))
	s.Lend(seat)
	s.Return(seat)
	s.Leave(seat)
	if seat.Processor() != -1 {
		t.Error(seat.Processor())
	}
}

func TestAMaskHasTheProcessorItIsMadeOf(t *testing.T) {
	for _, n := range []int{0, 31, 32, 63, 64, 1023, 65535} {
		if got := Of(n).Processors(); !slices.Equal(got, []int{n}) {
			t.Errorf("Of(%d) is %v", n, got)
		}
	}
	if got := Mask(nil).Processors(); len(got) != 0 {
		t.Error("Mask(nil).Processors():", got)
	}
}

// The kernel of this machine does what it is told, or says that it cannot.
func TestTheKernelDoesWhatItIsTold(t *testing.T) {
	before, err := System.Mask(0)
	if runtime.GOOS != "linux" {
		if err == nil || !strings.Contains(err.Error(), runtime.GOOS) {
			t.Error("System.Mask(0):", err)
		}
		return
	}
	if err != nil {
		t.Fatal("System.Mask(0):", err)
	}
	if ids, err := Allowed(System); err != nil || !slices.Equal(ids, before.Processors()) {
		t.Errorf("allowed are %v, not %v; %v", ids, before.Processors(), err)
	}
	over := make(chan error)
	go func() { // and ends with its thread
		runtime.LockOSThread()
		last := before.Processors()[len(before.Processors())-1]
		err := System.SetMask(0, Of(last))
		now, also := System.Mask(System.Thread())
		if err == nil && also == nil && !slices.Equal(now.Processors(), []int{last}) {
			err = fmt.Errorf("on %v, not on %d", now.Processors(), last)
		}
		over <- errors.Join(err, also)
	}()
	if err := <-over; err != nil {
		t.Error("<-over:", err)
	}
	if err := System.SetMask(0, Of(65535)); err == nil {
		t.Error("a processor that is not there is not refused")
	}
	if _, err := System.Mask(-1); err == nil {
		t.Error("a thread that is not there is not refused")
	}
}

// A goroutine that has left is locked to no thread: a coroutine that was made before goes on.
func TestNothingStaysLocked(t *testing.T) {
	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	defer stop()
	s := New(newFake(), []int{0}, none(t))
	s.Leave(s.Take(1))
	if v, ok := next(); v != 1 || !ok { // which else ends the program
		t.Error("next():", v, ok)
	}
}
