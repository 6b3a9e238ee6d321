package policy

const (
	// MostMoved is how many tasks move from one queue to another at a time, beside the
	// one that the worker runs.
	MostMoved = 32
	// OwnQueue is how many tasks a worker's queue by priority holds.
	OwnQueue = 256
	// Spilled is how many of these, the least urgent, move to the global queue when one
	// more comes.
	Spilled = OwnQueue / 2
)

// What a thief takes of another worker's tasks, beside the one that it runs: one in so many, for Share.
const (
	StealOne  = 0
	StealHalf = 2
)

// Share returns how many of n tasks move along with the one that a worker takes, if it
// takes one in every so many. With 0 none moves.
func Share(n, every int) int {
	if every == 0 || n < 1 {
		return 0
	}
	return (n - 1) / every
}
