package strand

// AtHome is how many goroutines a pool keeps at most, for each of its workers.
const AtHome = atHome
