package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/poll"
)

func TestClusterCronJobsAreSetAndRemoved(t *testing.T) {
	startCluster(t)
	startNode(t, "upper", "--text")
	expect(t, 0, []string{"no cron jobs"}, "cron", "ls")
	expect(t, 0, []string{"added yearly\n"}, "cron", "add", "yearly", "CRON_TZ=Europe/Berlin 0 3 1 1 *", "upper", "--text", "loud", "--level", "low", "--within", "1m")
	var added map[string][]string
	if asked(t, &added, "cron", "add", "often", "@every 1s", "upper", `"x"`, "--unique", "often"); fmt.Sprint(added) != "map[added:[often]]" {
		t.Error(added)
	}
	poll.Until(t, 20*time.Second, "two tasks of a cron job have run", func() (bool, any) {
		var v clusterView
		asked(t, &v, "ls")
		return len(v.Nodes) > 0 && v.Nodes[0].Stats.Done >= 2, v
	})
	var jobs []cluster.CronJob
	asked(t, &jobs, "cron", "ls")
	if len(jobs) != 2 || jobs[0].Name != "often" || jobs[1].Spec != "CRON_TZ=Europe/Berlin 0 3 1 1 *" || jobs[1].Handler != "upper" || jobs[1].Set.IsZero() {
		t.Errorf("%+v", jobs)
	}
	expect(t, 0, []string{"name", "schedule", "yearly  CRON_TZ=Europe/Berlin 0 3 1 1 *  upper"}, "cron", "ls")
	expect(t, 1, []string{"removed often\n", "no cron job has that name: none"}, "cron", "rm", "none", "often")
	expect(t, 0, []string{"removed yearly\n"}, "cron", "rm", "yearly")
	if asked(t, &jobs, "cron", "ls"); len(jobs) != 0 {
		t.Errorf("%+v", jobs)
	}
	expect(t, 1, []string{"no node has a handler of that name: other"}, "cron", "add", "a", "@daily", "other")
	expect(t, 1, []string{`the spec "61 * * * *" of the cron job a is none`}, "cron", "add", "a", "61 * * * *", "upper")
	expect(t, 1, []string{"takes no keys"}, "cron", "add", "a", "@daily", "upper", "--key", "k")
}
