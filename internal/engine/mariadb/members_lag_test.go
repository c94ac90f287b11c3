package mariadb_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/wire"
)

// longestWait of a watcher's question.
const longestWait = 250 * time.Millisecond

// pursuit is a probe's two sessions and one that looks what is really there.
type pursuit struct {
	t       *testing.T
	probe   *mariadb.Lag
	writer  *mariadb.LagWriter
	watcher *mariadb.LagWatcher
	looks   *sql.Conn
	row     func(write uint64) uint64
}

// lagByName: a member is never said to show what it does not, however the probe was woken.
func lagByName(t *testing.T, members []*familytest.Member) {
	behind := members[1]
	p := &pursuit{t: t, looks: session(t, behind, 0), row: func(write uint64) uint64 { return 1<<42 + write }}
	p.probe = mariadb.NewLag(engine.LagTarget{
		Writes: members[0].Endpoint(), Password: familytest.Password, PayloadBytes: []int64{100}, LongestWait: longestWait,
	})
	if _, err := behind.DB(wire.AccountAdmin, "").Exec("SET GLOBAL group_concat_max_len=1024"); err != nil { // the default of MySQL's servers
		t.Fatal(err)
	}
	var err error
	if p.writer, err = p.probe.OpenWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.writer.Close()
	if p.watcher, err = p.probe.OpenWatcher(t.Context(), address(behind)); err != nil {
		t.Fatal(err)
	}
	defer p.watcher.Close()

	stop := writes(t, members[0], 8)
	for write := uint64(1); write <= 300; write++ {
		shown := p.pursue(write)
		p.write(write)
		<-shown
	}
	stop()
	if missing, err := p.watcher.Missing(1, 300); err != nil || len(missing) > 0 {
		t.Errorf("a member that has shown each write lacks %v, %v", missing, err)
	}
	p.isWokenByTheName(behind)
	p.findsWhatIsMisnamed()
}

// pursue waits for a write until it is shown, and looks at once whether it is there.
func (p *pursuit) pursue(write uint64) <-chan struct{} {
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for began := time.Now(); ; {
			found, err := p.watcher.Wait(write, longestWait)
			if err != nil || time.Since(began) > time.Minute {
				p.t.Errorf("wait for write %d: %v", write, err)
				return
			}
			if found {
				break
			}
		}
		if p.rows(write) != 1 {
			p.t.Errorf("write %d is said to be there, and is not", write)
		}
	}()
	return shown
}

func (p *pursuit) rows(write uint64) (n int) {
	if err := p.looks.QueryRowContext(p.t.Context(), "SELECT COUNT(*) FROM social.probe_writes WHERE id = ?", p.row(write)).Scan(&n); err != nil {
		p.t.Error(err)
	}
	return n
}

func (p *pursuit) write(write uint64) {
	p.t.Helper()
	err := p.writer.Write(write, p.row(write), 0)
	if err == nil {
		err = p.writer.Confirm(write)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// isWokenByTheName: a member that is behind is not asked again and again.
func (p *pursuit) isWokenByTheName(behind *familytest.Member) {
	const write = 1001
	admin, err := behind.DB(wire.AccountAdmin, "").Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer admin.Close()
	questions := func() (n int64) {
		if err := admin.QueryRowContext(p.t.Context(), "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Questions'").Scan(&n); err != nil {
			p.t.Fatal(err)
		}
		return n
	}
	if _, err := admin.ExecContext(p.t.Context(), "FLUSH TABLES WITH READ LOCK"); err != nil {
		p.t.Fatal(err)
	}
	p.write(write)
	shown, before, began := p.pursue(write), questions(), time.Now()
	time.Sleep(1500 * time.Millisecond) // it may ask all the while
	asked, took := questions()-before, time.Since(began)
	if p.rows(write) != 0 {
		p.t.Error("the member is not behind: the test tests nothing")
	}
	if _, err := admin.ExecContext(p.t.Context(), "UNLOCK TABLES"); err != nil {
		p.t.Fatal(err)
	}
	<-shown
	if most := 10 + took.Milliseconds()*2/longestWait.Milliseconds(); asked > most {
		p.t.Errorf("a member that is behind was asked %d times in %s, want at most %d: it is to be woken", asked, took, most)
	}
}

// findsWhatIsMisnamed: under its name the member has had another transaction for long.
func (p *pursuit) findsWhatIsMisnamed() {
	for write := uint64(2001); write < 2101; write++ {
		p.probe.Misname(write, "0-100-1")
		shown := p.pursue(write)
		if err := p.writer.Write(write, p.row(write), 0); err != nil {
			p.t.Fatal(fmt.Errorf("write %d: %w", write, err))
		}
		<-shown
	}
}
