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

// With FIFO, workers take the rest of what another has moved one by one. That costs each of them about 300 ns while both do (Xeon, two
// processors), so one that comes for the next after less than Brief stays away for as long as AsideTurns of its pause take, some 10 us. A
// million empty tasks on two workers then take the time that they took when each worker kept what it had moved; without it 1.4 to 1.7 times
// as long. With 250 instead of 700 ns it is 1.3, and with 1,200 tasks of 600 ns are slower than without.
const (
	Brief      = 700
	AsideTurns = 60
)

// Share returns how many of n tasks move along with the one that a worker takes, if it
// takes one in every so many. With 0 none moves.
func Share(n, every int) int {
	if every == 0 || n < 1 {
		return 0
	}
	return (n - 1) / every
}
