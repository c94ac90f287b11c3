package starter

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/starter"
	"replab.dev/internal/topology/galera/agent"
)

// TestAServerThatStaysOutOfItsGroupIsStartedAgain: it would run on and never take part.
func TestAServerThatStaysOutOfItsGroupIsStartedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		left bool
	}{
		"a transfer that failed":        {"[ERROR] WSREP: Receiving IST failed, node restart required: IST receiver reported failure", true},
		"one that says nothing of that": {"[Note] WSREP: Synchronized with group, ready for connections", false},
	} {
		t.Run(name, func(t *testing.T) {
			transfers, err := newTransfers(mariadb.Server{}, agent.NotesIn(t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			m := &member{transfers: transfers, entered: time.Now()}
			var answers starter.Listener = m
			for range 2 {
				if _, err := answers.Write([]byte(c.says + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			left := false
			select {
			case <-answers.LeftOut():
				left = true
			default:
			}
			if left != c.left {
				t.Errorf("it is left out: %t, want %t", left, c.left)
			}
			answers.Ended(left)
			if again := m.Again(0); again != c.left {
				t.Errorf("started again: %t, want %t", again, c.left)
			}
			if m.Again(0) {
				t.Error("a server that ended in good order is started again")
			}
			if len(answers.LeftOut()) > 0 {
				t.Error("what the server said before it ended counts of the next one")
			}
		})
	}
}

// TestTransfersAreNoted, each once and as what it was.
func TestTransfersAreNoted(t *testing.T) {
	const (
		begins = "[Note] WSREP: Running: 'wsrep_sst_mariabackup --role 'joiner' --address '10.0.0.1:4444'"
		lacks  = "WSREP_SST: [INFO] 'xtrabackup_ist' received from donor: Running IST (20261122 08:05:33.658)"
		rest   = "[Note] WSREP: Receiving IST: 19238 writesets, seqnos 5-19242"
		ends   = "[Note] WSREP: Synchronized with group, ready for connections"
	)
	for name, c := range map[string]struct {
		lines []string
		want  []v1alpha1.ResyncMethod // of those that ended
	}{
		"all data, and what was committed meanwhile":    {[]string{begins, rest, ends}, []v1alpha1.ResyncMethod{v1alpha1.ResyncSST}},
		"what was missing":                              {[]string{begins, lacks, rest, ends}, []v1alpha1.ResyncMethod{v1alpha1.ResyncIST}},
		"what was missing, of a server that had run on": {[]string{rest, ends}, []v1alpha1.ResyncMethod{v1alpha1.ResyncIST}},
		"nothing":             {[]string{ends, ends}, nil},
		"one after the other": {[]string{begins, ends, rest, ends}, []v1alpha1.ResyncMethod{v1alpha1.ResyncSST, v1alpha1.ResyncIST}},
	} {
		t.Run(name, func(t *testing.T) {
			notes := agent.NotesIn(t.TempDir())
			transfers, err := newTransfers(mariadb.Server{}, notes)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range c.lines {
				_, _ = transfers.Write([]byte("2026-11-22  8:50:09 0 " + line + "\n"))
			}
			all, err := notes.AllTransfers()
			if err != nil {
				t.Fatal(err)
			}
			var got []v1alpha1.ResyncMethod
			for _, one := range all {
				if one.EndedAt == nil || one.Milliseconds == nil {
					t.Errorf("%+v has not ended, or says too little", one)
				}
				got = append(got, one.Kind)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("transfers %v, want %v", got, c.want)
			}
		})
	}
}

// TestWhatAServerSaysLater than it happened counts from when it happened: one that gets all data keeps its messages to itself until it has
// them. How many bytes had been received by then nobody knows any more.
func TestWhatAServerSaysLater(t *testing.T) {
	const (
		begins = " 0 [Note] [MY-000000] [WSREP] Initiating SST/IST transfer on JOINER side (wsrep_sst_xtrabackup-v2 --role 'joiner' --address '10.0.0.1'"
		ends   = " 2 [Note] [MY-000000] [WSREP] Synchronized with group, ready for connections"
	)
	for name, c := range map[string]struct {
		began, ended time.Duration // before now
		want         int64         // milliseconds; -1: not stated
		counted      bool
	}{
		"at once":                      {0, 0, 0, true},
		"once it has all data":         {24 * time.Second, 0, 24_000, false},
		"long after all of it":         {34 * time.Second, 10 * time.Second, 24_000, false},
		"by a clock that was set back": {0, time.Minute, -1, false},
	} {
		notes := agent.NotesIn(t.TempDir())
		transfers, err := newTransfers(mysql.Server{}, notes)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC()
		said := func(ago time.Duration, message string) {
			transfers.read(now.Add(-ago).Format("2006-01-02T15:04:05.000000Z")+message, now)
		}
		said(c.began, begins)
		said(c.ended, ends)
		all, err := notes.AllTransfers()
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		one := all[0]
		if got := ptr.Deref(one.Milliseconds, -1); got != c.want || one.BeganAt.Sub(now.Add(-c.began)).Abs() > time.Millisecond {
			t.Errorf("%s: it took %d ms from %s on, want %d from %s", name, got, one.BeganAt, c.want, now.Add(-c.began))
		}
		if got := one.NetworkReceivedBytes != nil; got != (c.counted && received() != nil) {
			t.Errorf("%s: bytes are stated: %t", name, got)
		}
	}
}
