package ledger

import "testing"

func TestCompareKeepsEverySetApart(t *testing.T) {
	sets := Sets{
		Sent: setOf(1, 2, 3, 4, 5, 6, 7, 8), Acknowledged: setOf(1, 2, 3), Rejected: setOf(4, 5), Indeterminate: setOf(6, 7, 8),
	}
	for name, c := range map[string]struct {
		present    Bitmap
		duplicates int64
		want       Comparison
	}{
		"everything as it was told": {setOf(1, 2, 3), 0, Comparison{Present: 3, Vanished: 3, Balanced: true}},
		"a loss that hides behind a recovered write": {
			setOf(1, 2, 6), 0,
			Comparison{Present: 3, Lost: 1, Recovered: 1, Vanished: 2, Balanced: true, LostIDs: setOf(3)},
		},
		"a rejected write that is there":       {setOf(1, 2, 3, 4), 0, Comparison{Present: 4, Vanished: 3, Unexpected: 1, Balanced: true}},
		"writes that nobody sent":              {setOf(1, 2, 3, 9, 0, 1<<63), 0, Comparison{Present: 6, Vanished: 3, Unexpected: 3, Balanced: true}},
		"an empty table":                       {Bitmap{}, 0, Comparison{Lost: 3, Vanished: 3, Balanced: true, LostIDs: setOf(1, 2, 3)}},
		"duplicates are told and hide nothing": {setOf(1, 2), 1, Comparison{Present: 2, Lost: 1, Vanished: 3, Duplicates: 1, Balanced: true, LostIDs: setOf(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Compare(sets, c.present, c.duplicates)
			wantIDs(t, "LostIDs", got.LostIDs, c.want.LostIDs.First(10)...)
			c.want.Sent, c.want.Acknowledged, c.want.Rejected, c.want.Indeterminate = 8, 3, 2, 3
			wantFigures(t, got, c.want)
		})
	}
}

func wantFigures(t *testing.T, got, want Comparison) {
	t.Helper()
	figures := func(c Comparison) [11]any {
		return [11]any{c.Sent, c.Acknowledged, c.Rejected, c.Indeterminate, c.Present, c.Lost, c.Recovered, c.Vanished, c.Unexpected, c.Duplicates, c.Balanced}
	}
	if figures(got) != figures(want) {
		t.Errorf("got  %v\nwant %v", figures(got), figures(want))
	}
}

func TestCompareSeesASetThatOverlapsAnother(t *testing.T) {
	sets := Sets{Sent: setOf(1, 2), Acknowledged: setOf(1, 2), Rejected: setOf(2)}
	if c := Compare(sets, setOf(1, 2), 0); c.Balanced {
		t.Errorf("balanced with a write that was both acknowledged and rejected: %+v", c)
	}
}

func TestCompareSeesAWriteWithoutAnOutcome(t *testing.T) {
	sets := Sets{Sent: setOf(1, 2, 3), Acknowledged: setOf(1, 2)}
	if c := Compare(sets, setOf(1, 2), 0); c.Balanced || c.Sent != 3 {
		t.Errorf("balanced with a write that was sent and has no outcome: %+v", c)
	}
}
