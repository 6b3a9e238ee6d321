package upkeep

import "testing"

// atRoot has t name files from the root of the repository, which is what is judged here. It cannot be done once in TestMain: what is
// opened is noted only while tests run, and go test would take results from its cache though files have changed.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
