package deque

import (
	"container/list"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// rival is what is measured: a deque of this package, or something that does in
// its place.
type rival struct {
	name  string
	start func() ends
}

// ends are both ends of a queue. steal reports false if it got nothing.
type ends struct {
	push  func(v *int)
	pop   func() bool
	steal func() bool
	half  func(dst []*int) int // nil if it cannot
}

func rivals() (rs []rival) {
	for _, m := range makersOf[*int]() {
		rs = append(rs, rival{m.name, func() ends {
			o, th := m.make(0)
			return ends{
				o.Push,
				func() bool { _, ok := o.Pop(); return ok },
				func() bool { _, r := th.Steal(); return r == Success },
				func(dst []*int) int { n, _ := th.StealHalf(dst); return n },
			}
		}})
	}
	return append(rs,
		rival{"channel", func() ends { // first come, first served at both ends
			ch := make(chan *int, 1<<20)
			take := func() bool {
				select {
				case <-ch:
					return true
				default:
					return false
				}
			}
			return ends{func(v *int) { ch <- v }, take, take, nil}
		}},
		rival{"list+mutex", func() ends {
			var mu sync.Mutex
			l := list.New()
			take := func(end func() *list.Element) func() bool {
				return func() bool {
					mu.Lock()
					defer mu.Unlock()
					e := end()
					if e != nil {
						l.Remove(e)
					}
					return e != nil
				}
			}
			return ends{func(v *int) {
				mu.Lock()
				defer mu.Unlock()
				l.PushBack(v)
			}, take(l.Back), take(l.Front), nil}
		}})
}

// The deques themselves, called directly: Push and Pop of one value, with none
// and with ten below it.
func BenchmarkPushPop(b *testing.B) {
	for _, m := range makersOf[*int]() {
		for _, below := range []int{0, 10} {
			b.Run(fmt.Sprintf("%s/below=%d", m.name, below), func(b *testing.B) {
				o, _ := m.make(0)
				v := new(int)
				for range below {
					o.Push(v)
				}
				b.ReportAllocs()
				for b.Loop() {
					o.Push(v)
					o.Pop()
				}
			})
		}
	}
	for _, r := range rivals()[len(makersOf[*int]()):] {
		b.Run(r.name+"/below=10", func(b *testing.B) {
			q, v := r.start(), new(int)
			for range 10 {
				q.push(v)
			}
			b.ReportAllocs()
			for b.Loop() {
				q.push(v)
				q.pop()
			}
		})
	}
}

// The owner's speed while it is robbed.
func BenchmarkPushPopRobbed(b *testing.B) {
	for _, thieves := range []int{1, 2, 4, 7, 8} {
		for _, r := range rivals() {
			b.Run(fmt.Sprintf("%s/thieves=%d", r.name, thieves), func(b *testing.B) {
				q, v := r.start(), new(int)
				var stop atomic.Bool
				var stolen atomic.Int64
				var wg sync.WaitGroup
				for range thieves {
					wg.Go(func() {
						for !stop.Load() {
							if q.steal() {
								stolen.Add(1)
							}
							runtime.Gosched()
						}
					})
				}
				for b.Loop() {
					q.push(v)
					q.pop()
				}
				stop.Store(true)
				wg.Wait()
				b.ReportMetric(float64(stolen.Load())/float64(b.N), "stolen/op")
			})
		}
	}
}

// A thief alone with a full deque: values one by one, and by halves.
func BenchmarkSteal(b *testing.B) {
	const n = 1 << 14
	for _, r := range rivals() {
		for _, half := range []bool{false, true} {
			if half && r.start().half == nil {
				continue
			}
			name := r.name + "/one"
			if half {
				name = r.name + "/half"
			}
			b.Run(name, func(b *testing.B) {
				v, dst := new(int), make([]*int, 64)
				left := 0
				var q ends
				for b.Loop() {
					if left <= 0 {
						b.StopTimer()
						q, left = r.start(), n
						for range n {
							q.push(v)
						}
						b.StartTimer()
					}
					if half {
						left -= q.half(dst)
					} else if q.steal() {
						left--
					}
				}
				if half {
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/value")
				}
			})
		}
	}
}

// Growth from nothing to a hundred thousand values, and back.
func BenchmarkGrowth(b *testing.B) {
	const n = 100_000
	for _, r := range rivals() {
		b.Run(r.name, func(b *testing.B) {
			v := new(int)
			b.ReportAllocs()
			for b.Loop() {
				q := r.start()
				for range n {
					q.push(v)
				}
				for range n {
					q.pop()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}
