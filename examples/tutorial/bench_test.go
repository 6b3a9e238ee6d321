package main

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/filch-go/filch"
)

func BenchmarkQueens(b *testing.B) {
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			queensSerial(emptyBoard(12))
		}
	})
	for workers := 1; workers <= runtime.GOMAXPROCS(0); workers *= 2 {
		pool := filch.New(filch.WithWorkers(workers))
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			for b.Loop() {
				queensAll.Call(pool, emptyBoard(12))
			}
		})
	}
}

func BenchmarkQueensCoarse(b *testing.B) {
	for workers := 1; workers <= runtime.GOMAXPROCS(0); workers *= 2 {
		pool := filch.New(filch.WithWorkers(workers))
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			for b.Loop() {
				queensCoarse.Call(pool, emptyBoard(12))
			}
		})
	}
}

func BenchmarkWords(b *testing.B) {
	texts := sample(2000)
	for _, step := range wordSteps {
		b.Run(step.name, func(b *testing.B) {
			for b.Loop() {
				step.count(filch.Default(), texts)
			}
		})
	}
}
