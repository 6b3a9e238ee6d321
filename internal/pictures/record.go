package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
// On a machine that is too busy for so many of them, it returns an error.
func undisturbed(executor string, run func() []member) (family, error) {
	const runs, tries = 101, 10_000
	f := family{Executor: executor, Workers: 2, Runs: runs}
	var shares []float64
	for try := 0; len(shares) < runs; try++ {
		if try == tries {
			return f, fmt.Errorf("of %d runs of %s, only %d were undisturbed: the machine is too busy", tries, executor, len(shares))
		}
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
	return f, nil
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
			panic(missing(fmt.Sprintf("docs/%s: %v", stealsFile, err)))
		}
		es = append(es, e)
	}
	return es
}
