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

// Patience is for how long a search may last, in nanoseconds, by what earlier ones came to. A search in vain halves it, so that
// where nothing comes soon, as between the requests of a service, rest costs next to nothing. Work that comes within SpinTime of
// a rest doubles it: a longer search would have found that.
type Patience int64

// LeastPatience is enough for a few looks.
const LeastPatience Patience = SpinTime / 16

// Vain returns the patience after a search that found nothing.
func (p Patience) Vain() Patience { return max(p/2, LeastPatience) }

// Woken returns the patience after a worker was woken so long after one went to rest.
func (p Patience) Woken(rested int64) Patience {
	if rested >= SpinTime {
		return p
	}
	return min(2*p, SpinTime)
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
