package clustertest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil { // they wait for servers, and not for processors
		panic(err)
	}
	clustertest.Main(m, clustertest.Programs{"worker": workerProgram, "submitter": submitterProgram, "poison": poisonProgram})
}

// stormAckWait is the AckWait of the handlers of the programs.
const stormAckWait = 2 * time.Second

// openNode opens a node of a process.
func nodeAt(url, name string, opts ...cluster.Option) *cluster.Node {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		n, err := cluster.Open(ctx, append([]cluster.Option{cluster.WithURL(url), cluster.WithNode(name), cluster.WithReplicas(1 + strings.Count(url, ","))}, opts...)...)
		if err == nil {
			return n
		}
		if ctx.Err() != nil {
			fmt.Println("open:", err)
			os.Exit(1)
		}
		time.Sleep(100 * time.Millisecond) // the servers are being killed
	}
}

// job is the argument of a task of a storm.
type job struct{ Micros, N int }

// workerProgram runs tasks, and writes "ran" and the ID of each before it runs it.
func workerProgram(args []string) {
	places, _ := strconv.Atoi(args[2])
	n := nodeAt(args[0], args[1], cluster.WithPlaces(places), cluster.WithPool(filch.New(filch.WithWorkers(places))))
	cluster.Handle(n, "job", func(ctx context.Context, j job) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		fmt.Println("ran", info.ID)
		filch.Blocking(ctx, func() { time.Sleep(time.Duration(j.Micros) * time.Microsecond) })
		return 2 * j.N, nil
	}, cluster.WithAckWait(stormAckWait), cluster.WithRetry(cluster.Retry{Attempts: 1000}))
	fmt.Println("ready")
	select {}
}

// submitterProgram submits tasks without end, some at a time, and writes "stored" and the ID when the servers have
// confirmed one, and "told" and how long that took in ms when it has the result.
func submitterProgram(args []string) {
	n := nodeAt(args[0], args[1], cluster.WithPlaces(0))
	var mu sync.Mutex
	next := 0
	fmt.Println("ready")
	for range 16 {
		go func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				submitOne(n, args[1], i)
			}
		}()
	}
	select {}
}

// submitOne submits a task, again if the servers do not confirm it and its ID makes that safe, and waits for its result.
func submitOne(n *cluster.Node, name string, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	opts := []cluster.SubmitOption{cluster.Durable()}
	if i%2 == 0 {
		opts = append(opts, cluster.ID(fmt.Sprint(name, "-", i)))
	}
	begin := time.Now()
	f, err := cluster.Submit[job, int](ctx, n, "job", job{Micros: i * 7919 % 5000, N: i}, opts...)
	for i%2 == 0 && err != nil && ctx.Err() == nil {
		f, err = cluster.Submit[job, int](ctx, n, "job", job{Micros: 1, N: i}, opts...)
	}
	if err != nil {
		if !errors.Is(err, cluster.ErrUnknownHandler) {
			fmt.Println("refused", err)
		}
		return
	}
	fmt.Println("stored", f.ID(), i)
	got, err := f.Wait(ctx)
	if err != nil || got != 2*i {
		fmt.Println("wrong", f.ID(), got, err)
		return
	}
	fmt.Println("told", time.Since(begin).Milliseconds(), f.ID())
}

// poisonProgram has a handler whose tasks end the process, and one that is innocent.
func poisonProgram(args []string) {
	n := nodeAt(args[0], args[1], cluster.WithPlaces(2), cluster.WithPool(filch.New(filch.WithWorkers(2))))
	cluster.Handle(n, "poison", func(context.Context, int) (int, error) { os.Exit(1); return 0, nil },
		cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 2}))
	cluster.Handle(n, "double", double, cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 20}))
	select {}
}
