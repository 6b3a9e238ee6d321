package main

import (
	"context"
	"io/fs"
	"strings"

	"github.com/filch-go/filch"
)

// wordsFile reads a file and counts its words, line by line.
func wordsFile(ctx context.Context, fsys fs.FS, name string) (map[string]int, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	return wordsPar(filch.ScopeOf(ctx), lines), nil
}

// wordsFiles counts the words of files, in a task for each and one that waits for them.
func wordsFiles(ctx context.Context, pool *filch.Pool, fsys fs.FS, names []string) *filch.Future[map[string]int] {
	return filch.Submit(ctx, pool, func(ctx context.Context) (map[string]int, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // after an error, tasks that have not begun are dropped
		var files []*filch.Future[map[string]int]
		for _, name := range names {
			files = append(files, filch.Submit(ctx, pool, func(ctx context.Context) (map[string]int, error) {
				return wordsFile(ctx, fsys, name)
			}))
		}
		counts := map[string]int{}
		for _, file := range files {
			more, err := file.Wait(ctx)
			if err != nil {
				return nil, err
			}
			counts = merge(counts, more)
		}
		return counts, nil
	})
}
