package main

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/test/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// TestWhatIsDrawnIsAccepted by the API server: a campaign that stops in the middle of the night over a rule is of no use.
func TestWhatIsDrawnIsAccepted(t *testing.T) {
	patroni := draw{Faults: 1, Rest: 40, Seed: 1, Shortest: 5, Longest: 45, Fit: true}
	must(t, patroni.set("Kill,KillServer,Pause,Partition", "1", "Peers,Everyone,Store"))
	for name, o := range map[string]options{
		"faults":            {file: "../../experiments/galera-all-dead.yaml", draw: drawOf(t, "Kill,Pause,Partition", "1,2,3", draw{Faults: 2, Fit: true})},
		"during partitions": {file: "../../experiments/findings/galera-kill-in-partition.yaml", draw: drawOf(t, "Kill,Pause", "1,2", draw{Faults: 2, During: true, After: 7, Fit: true})},
		"fitted":            {file: semisync, draw: drawOf(t, "", "1", draw{Fit: true})},
		"beside":            {file: "../../experiments/galera.yaml", beside: "../../experiments/mariadb-single.yaml", draw: drawOf(t, "", "1", draw{})},
		"of Patroni's":      {file: "../../experiments/patroni-quorum.yaml", draw: patroni},
		"beside itself":     {file: single, beside: single, draw: drawOf(t, "", "1", draw{})},
	} {
		t.Run(name, func(t *testing.T) {
			o.namespace, o.count = "default", 20
			s, err := readSubject(o)
			must(t, err)
			for _, each := range s.tasks(o) {
				x, err := s.object(each, o.draw, "7f3a")
				must(t, err)
				if err := kubetest.Client(t).Create(t.Context(), x, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
					t.Fatalf("run %+v: %v", each, err)
				}
			}
		})
	}
}
