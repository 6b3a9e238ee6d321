//go:build !race

package place

const checked = false
