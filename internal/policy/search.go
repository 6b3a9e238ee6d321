package policy

// Search is what the workers of a pool may spend on looking for work. Each search costs its
// time. Work that is found pays for it, and a part of the time is free. So where forks are
// few or short, workers do not burn processors beside the one that has them all.
//
// It is a token bucket, kept as one number: the time since when tokens have come in.
type Search int64

const (
	// FreeSearch is the part of the time that is free for searching: one in so many.
	FreeSearch = 20
	// MaxSearch is what can be saved up, in nanoseconds, for each worker that may search.
	MaxSearch = 10 * SpinTime
	// HoldTime is for how long, in nanoseconds, no worker is woken for forks when searching
	// has cost more than it may.
	HoldTime = 250_000
)

// Worth returns what work that took so long pays for searching, in nanoseconds: one search at
// most. A steal costs thief and victim some microseconds in all, also by the data that moves
// between processors. So what is shorter than Price costs more than it gives.
func Worth(took int64) int64 {
	if took <= 0 {
		return 0 // a clock that stands still, or goes back
	}
	return min(took, SpinTime) - Price
}

// FullSearch is a Search with all that can be saved up by the time now.
func FullSearch(now int64) Search { return Search(now - FreeSearch*MaxSearch) }

// Count returns what may be spent from the time now on, after a search, and work of that worth,
// in a pool where so many workers may search at once. Nothing is owed: after HoldTime some may
// be spent again, so that a burst of work then wakes more than one worker.
func (s Search) Count(now, searched, worth int64, searchers int) Search {
	searched = max(0, min(searched, 2*SpinTime)) // the rest, other programs had the processor
	since := max(int64(s), int64(FullSearch(now))) + FreeSearch*(searched-worth)/int64(max(1, searchers))
	return Search(min(since, now))
}

// Left returns for how long, in nanoseconds, a worker may search at the time now, or 0.
func (s Search) Left(now int64) int64 { return max(0, (now-int64(s))/FreeSearch) }
