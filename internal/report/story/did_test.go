package story_test

import (
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/report/story"
)

func TestWhatEachFaultDid(t *testing.T) {
	for _, c := range []struct {
		action v1alpha1.FaultAction
		from   v1alpha1.PartitionFrom
		role   v1alpha1.NodeRole
		want   string
	}{
		{v1alpha1.ActionKill, "", v1alpha1.NodePrimary, "killed semisync-db-0, the primary"},
		{v1alpha1.ActionKillServer, "", v1alpha1.NodeReplica, "killed the server of semisync-db-0, a replica"},
		{v1alpha1.ActionDeletePod, "", v1alpha1.NodeIsolated, "deleted pod semisync-db-0, isolated"},
		{v1alpha1.ActionPause, "", v1alpha1.NodeDown, "paused semisync-db-0, down"},
		{v1alpha1.ActionPartition, v1alpha1.PartitionEveryone, v1alpha1.NodePrimary, "cut off semisync-db-0, the primary, from everyone"},
		{v1alpha1.ActionPartition, v1alpha1.PartitionStore, v1alpha1.NodeReplica, "cut off semisync-db-0, a replica, from the API server"},
		{v1alpha1.ActionSwitchover, "", v1alpha1.NodePrimary, "asked for a switchover from semisync-db-0, the primary"},
		{"Another", "", "", "hit semisync-db-0"},
	} {
		r := reporttest.SemiSync(t)
		r.Spec.Faults[0].Action, r.Spec.Faults[0].PartitionFrom, r.Status.Faults[0].Role = c.action, c.from, c.role
		if got := story.Faults(figures.Of(r))[0].Did; got != c.want {
			t.Errorf("%s: %q, want %q", c.action, got, c.want)
		}
	}
}
