//go:build race

package ordered

const raceEnabled = true
