package upkeep

import (
	"log"
	"os"
	"testing"
)

// What is judged here is the repository, and so its files are named from its root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	m.Run()
}
