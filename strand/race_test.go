//go:build race

package strand_test

const raceEnabled = true
