package recorder

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// countWrites reads the sizes of the ledger's sets off its file, which has the writes of the recorders before a restart
// too.
func countWrites(path string) (counts wire.LedgerCounts, err error) {
	f, err := os.Open(path)
	if err != nil {
		return counts, err
	}
	defer f.Close()
	sets, err := ledger.Load(f)
	if err != nil {
		return counts, fmt.Errorf("read %s: %w", path, err)
	}
	return wire.LedgerCounts{
		Sent: sets.Sent.Count(), Acknowledged: sets.Acknowledged.Count(),
		Rejected: sets.Rejected.Count(), Indeterminate: sets.Indeterminate.Count(),
	}, nil
}

// acknowledgements reads off the ledger's file when writes of a load were acknowledged; nil without a load.
func acknowledgements(path string, load *metav1.MicroTime) (*wire.Acknowledgements, error) {
	if load == nil {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := wire.NewAcknowledgements(load.Time)
	err = ledger.Read(f, func(r ledger.Record) error {
		if r.Kind == ledger.KindAcknowledged {
			a.Mark(r.At)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return a, nil
}
