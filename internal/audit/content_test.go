package audit

import (
	"math/rand/v2"
	"testing"
)

func TestATableOfStrangeIDsIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	var dense ids
	for id := range uint64(2_000_000) {
		if err := dense.add(id, false); err != nil {
			t.Fatalf("id %d of a ledger's: %v", id, err)
		}
	}
	var strange ids
	random := rand.New(rand.NewPCG(1, 2))
	for range 250_000 {
		if err := strange.add(random.Uint64(), false); err != nil {
			return
		}
	}
	t.Errorf("%d random ids were taken, which need %d bytes", strange.rows, strange.set.Bytes())
}
