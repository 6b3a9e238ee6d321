package src

import "fmt"

const a, b = 1, 2

type (
	T struct{}
	U int
)

func (T) String() string { return fmt.Sprint(a) }
