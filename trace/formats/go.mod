// Tests of package trace with the libraries of others: those of protocol buffers, and the reader of the Go runtime's
// traces. It is a module outside of the workspace, so that nothing else needs what it requires.
module github.com/filch-go/filch/trace/formats

go 1.26.0

require (
	github.com/filch-go/filch v0.1.0
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e
)

replace github.com/filch-go/filch => ../..
