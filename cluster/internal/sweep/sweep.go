// Package sweep says how often a node looks for what no message has told it.
package sweep

import "time"

// Every is the time between two sweeps. Tests set it before they open nodes, so that they need not wait as long.
var Every = 5 * time.Second

// Rounds is how many sweeps pass in a minute: what remains of lost nodes is searched for that often, and not while a submission may still
// be under way.
func Rounds() int { return int(time.Minute / Every) }
