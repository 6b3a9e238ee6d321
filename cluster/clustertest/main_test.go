package clustertest_test

import (
	"testing"

	"github.com/filch-go/filch/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m, clustertest.Programs{}) }
