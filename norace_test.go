//go:build !race

package filch_test

const raceEnabled = false
