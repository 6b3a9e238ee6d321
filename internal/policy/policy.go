// Package policy holds the decisions of the scheduler as pure values. They start no
// goroutine, read no clock and draw from no random source but their own seed, so that the
// scheduler and a simulator can share them and a test can replay them.
//
//	look.go      in which order a worker looks for work
//	victims.go   how a worker drives its order of package steal
//	wake.go      when a worker is woken, and how many may search
//	publish.go   how many forks are shown to others, and when they are asked for more
//	spin.go      how long a worker looks again before it gives up
//	search.go    how much looking for work may cost all workers together
//	fairness.go  after how many tasks of its own a worker looks at what came from outside
//	share.go     how many tasks move from one queue to another
//	age.go       by what a task is queued if it grows more urgent while it waits
//	way.go       when a worker gives its place to a more urgent task
//	stall.go     how many places are added for workers that are blocked out of sight
package policy
