package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/trace"
)

// What is measured for pictures alone is kept in these files of docs/bench.
const (
	runsFile   = "pictures.json"
	stealsFile = "steals.txt"
)

// A caches has what a load takes that the next load waits for, by how much memory the loads go through,
// and how long a word takes from one processor to another and back.
type caches struct {
	Levels   []cacheLevel `json:"levels"`
	Loads    []load       `json:"loads"`
	HandOver float64      `json:"hand_over_ns"`
	Kind     string       `json:"kind"` // of these figures
}

type cacheLevel struct {
	Level int   `json:"level"`
	Bytes int64 `json:"bytes"`
	CPUs  int   `json:"cpus"` // that share it
}

type load struct {
	Bytes int64   `json:"bytes"`
	NS    float64 `json:"ns"`
}

// A family is a tree of tasks that was run many times: each task works, and then submits two more.
type family struct {
	Executor string   `json:"executor"`
	Workers  int      `json:"workers"`
	Runs     int      `json:"runs"`
	Share    float64  `json:"share"`         // of the children that their parent's worker has run: the median of the runs
	Low      float64  `json:"share_quarter"` // a quarter of the runs have no more
	High     float64  `json:"share_three_quarters"`
	Members  []member `json:"tasks"` // of the quickest run
}

// A member is one of them; its parent is (number - 1) / 2.
type member struct {
	Worker int   `json:"worker"`
	From   int64 `json:"from_ns"`
	To     int64 `json:"to_ns"`
}

// share returns the part of the children that the worker of their parent has run.
func share(ms []member) float64 {
	home := 0
	for i := 1; i < len(ms); i++ {
		if ms[i].Worker == ms[(i-1)/2].Worker {
			home++
		}
	}
	return float64(home) / float64(len(ms)-1)
}

// ran is what the file has beside the machine.
type ran struct {
	Machine  machine  `json:"machine"`
	Caches   caches   `json:"caches"`
	Families []family `json:"families"`
}

type machine struct {
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	Time string `json:"time"`
}

// measure runs all of it, which takes some seconds, and keeps it below dir.
func measure(dir string) error {
	m := machine{CPU: processor(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Time: time.Now().UTC().Format(time.RFC3339)}
	r := ran{Machine: m, Caches: measureCaches()}
	r.Families = []family{undisturbed("basic", basicFamily), undisturbed("filch", filchFamily)}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := os.WriteFile(filepath.Join(dir, "docs", "bench", runsFile), b, 0o666); err != nil {
		return err
	}
	text, err := measureSteals()
	if err != nil {
		return err
	}
	head := fmt.Sprintf("# %s, %d CPUs, %s, %s\n", m.CPU, m.CPUs, m.Go, m.Time)
	return os.WriteFile(filepath.Join(dir, "docs", "bench", stealsFile), append([]byte(head), text...), 0o666)
}

// processor returns the name of the processor, where Linux says it.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

func measureCaches() caches {
	c := caches{Levels: cacheLevels(), HandOver: handOver(), Kind: "loads: median of rounds of 5,000; hand-over: least of 200 rounds"}
	for size := int64(8 << 10); size <= 64<<20; size *= 2 {
		c.Loads = append(c.Loads, load{size, chase(size)})
	}
	return c
}

// cacheLevels returns the caches of data of the first processor, where Linux tells of them.
func cacheLevels() (all []cacheLevel) {
	for i := 0; ; i++ {
		get := func(name string) string {
			b, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name))
			return strings.TrimSpace(string(b))
		}
		kind := get("type")
		if kind == "" {
			return all
		}
		level, _ := strconv.Atoi(get("level"))
		kb, err := strconv.ParseInt(strings.TrimSuffix(get("size"), "K"), 10, 64)
		if kind == "Instruction" || err != nil {
			continue
		}
		cpus := 1
		if _, more, ok := strings.Cut(get("shared_cpu_list"), "-"); ok {
			last, _ := strconv.Atoi(more)
			cpus = last + 1
		}
		all = append(all, cacheLevel{level, kb << 10, cpus})
	}
}

// chase returns what a load takes that goes through size bytes in a circle without order, one in
// each cache line, in nanoseconds: the median of rounds of 5,000, most of which nothing interrupts.
func chase(size int64) float64 {
	const line = 8 // words
	words := make([]uint64, size/8)
	n := len(words) / line
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i, at := range order {
		words[at*line] = uint64(order[(i+1)%n] * line)
	}
	const loads = 5_000
	var took []time.Duration
	at := uint64(0)
	for i := range max(2*n/loads, 200) {
		start := time.Now()
		for range loads {
			at = words[at]
		}
		if end := time.Since(start); i*loads >= n { // all are where they can be
			took = append(took, end)
		}
	}
	if at > uint64(len(words)) {
		panic("out of the circle")
	}
	slices.Sort(took)
	return float64(took[len(took)/2]) / loads
}

// handOver returns half of the time in which a word that one goroutine stores is answered by another.
func handOver() float64 {
	const turns, rounds = 2000, 200
	var ping, pong struct {
		atomic.Int64
		_ [120]byte
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		for i := int64(1); i <= turns*rounds; i++ {
			for ping.Load() < i {
			}
			pong.Store(i)
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	i := int64(0)
	for range rounds {
		start := time.Now()
		for range turns {
			i++
			ping.Store(i)
			for pong.Load() < i {
			}
		}
		least = min(least, time.Since(start))
	}
	wg.Wait()
	return float64(least) / turns / 2
}

// members is how many tasks a family has: so many that the first, which one worker runs alone, matter little.
const members = 127

// work takes some 20 us.
func work() (x uint64) {
	for i := range uint64(20_000) {
		x = x*6364136223846793005 + i
	}
	return x
}

var worked atomic.Uint64 // so that work is not left out

// undisturbed runs a family until so many runs took at most a quarter longer than two workers need: in others
// the machine had no processor for one of them meanwhile. It keeps the quickest, and the median of the shares.
func undisturbed(executor string, run func() []member) family {
	const runs = 101
	f := family{Executor: executor, Workers: 2, Runs: runs}
	var shares []float64
	for len(shares) < runs {
		ms := run()
		least := int64(math.MaxInt64)
		for _, m := range ms {
			least = min(least, m.To-m.From)
		}
		if lasts(ms) > least*members/2*5/4 {
			continue
		}
		shares = append(shares, share(ms))
		if f.Members == nil || lasts(ms) < lasts(f.Members) {
			f.Members = ms
		}
	}
	slices.Sort(shares)
	f.Share, f.Low, f.High = shares[runs/2], shares[runs/4], shares[runs*3/4]
	return f
}

// lasts returns how long a run takes from its first task on.
func lasts(ms []member) (ns int64) {
	for _, m := range ms {
		ns = max(ns, m.To-ms[0].From)
	}
	return ns
}

// basicFamily runs one on the pool with one queue. A goroutine is a worker there.
func basicFamily() []member {
	p := basic.New(2)
	defer p.Close()
	ms := make([]member, members)
	var wg sync.WaitGroup
	wg.Add(members)
	start := time.Now()
	var task func(i int)
	task = func(i int) {
		defer wg.Done()
		ms[i] = member{Worker: int(goroutine.Number()), From: int64(time.Since(start))}
		worked.Add(work())
		ms[i].To = int64(time.Since(start))
		for k := 2*i + 1; k <= 2*i+2 && k < members; k++ {
			p.Go(func() { task(k) })
		}
	}
	p.Go(func() { task(0) })
	wg.Wait()
	number(ms)
	return ms
}

// filchFamily runs one on filch. A Recorder knows the workers.
func filchFamily() []member {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	r := trace.New(p)
	r.Start()
	ms := make([]member, members)
	var wg sync.WaitGroup
	wg.Add(members)
	start := time.Now()
	var task func(i int) (func(context.Context), filch.TaskOption)
	task = func(i int) (func(context.Context), filch.TaskOption) {
		return func(ctx context.Context) {
			defer wg.Done()
			ms[i].From = int64(time.Since(start))
			worked.Add(work())
			ms[i].To = int64(time.Since(start))
			for k := 2*i + 1; k <= 2*i+2 && k < members; k++ {
				f, name := task(k)
				if err := p.Go(ctx, f, name); err != nil {
					panic(err)
				}
			}
		}, filch.Named(strconv.Itoa(i))
	}
	f, name := task(0)
	if err := p.Go(context.Background(), f, name); err != nil {
		panic(err)
	}
	wg.Wait()
	r.Stop()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		panic(err)
	}
	for _, e := range eventsOf(text.Bytes()) {
		if i, err := strconv.Atoi(e.Name); err == nil && (e.Kind == event.Started || e.Kind == event.Next) {
			ms[i].Worker = e.Worker
		}
	}
	number(ms)
	return ms
}

// number numbers the workers anew, from 0, as they come.
func number(ms []member) {
	seen := map[int]int{}
	for i := range ms {
		w, ok := seen[ms[i].Worker]
		if !ok {
			w = len(seen)
			seen[ms[i].Worker] = w
		}
		ms[i].Worker = w
	}
}

// stealers is how many workers the trace of steals has.
const stealers = 4

// measureSteals returns what was recorded of a program whose calls differ in what they take, on more workers
// than the machine may have processors. Of many runs it takes those in which each worker stole, and of these the
// quickest, which other programs have disturbed least; and of its events those that a picture of steals needs.
func measureSteals() (best []byte, err error) {
	p := filch.New(filch.WithWorkers(stealers))
	defer p.Close()
	least := int64(math.MaxInt64)
	for range 2000 {
		r := trace.New(p)
		r.Start()
		irregular.Call(p, [2]uint64{7, 5})
		r.Stop()
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			return nil, err
		}
		thieves := map[int]bool{}
		var kept []byte
		events := eventsOf(text.Bytes())
		took := events[len(events)-1].At - events[0].At
		for _, e := range events {
			switch e.Kind {
			case event.Stolen:
				thieves[e.Worker] = true
			case event.Entered, event.Called, event.Finished, event.Left:
			default:
				continue
			}
			e.Name = ""
			kept = append(e.Append(kept), '\n')
		}
		if len(thieves) == stealers && took < least {
			least, best = took, kept
		}
	}
	if best == nil {
		return nil, errors.New("there was no run in which each worker stole")
	}
	return best, nil
}

// irregular is a tree of calls with two to four children each, by chance.
var irregular = filch.NewFunc(func(f *filch.Frame[[2]uint64, int], at [2]uint64) int {
	seed, depth := at[0], at[1]
	worked.Add(work())
	if depth == 0 {
		return 1
	}
	mark := f.Mark()
	for i := range 2 + seed%3 {
		f.Fork([2]uint64{rand.New(rand.NewPCG(seed, i)).Uint64(), depth - 1})
	}
	n := 0
	for _, v := range mark.JoinAll {
		n += v
	}
	return n
})

// eventsOf reads the text form of a trace.
func eventsOf(text []byte) (es []event.Event) {
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		e, err := event.Parse(line)
		if err != nil {
			panic(missing(fmt.Sprintf("docs/bench/%s: %v", stealsFile, err)))
		}
		es = append(es, e)
	}
	return es
}
