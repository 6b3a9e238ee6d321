package clusterlive

import (
	"testing"

	"github.com/filch-go/filch/internal/browser"
)

func TestPageNeedsNothingElse(t *testing.T) { browser.CheckFiles(t, embedded) }
