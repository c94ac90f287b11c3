package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	tail := " S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 2"
	for name, comm := range map[string]string{
		"a plain name":                         "(etcd)",
		"a name with blanks and parentheses":   "(a) S 9 (b)",
		"a name that looks like another state": "() Z 1 1 1)",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseStat("77 " + comm + tail)
			if err != nil {
				t.Fatal(err)
			}
			if s.state != "S" || s.session != 77 || s.startTicks != 4242 {
				t.Errorf("got %+v", s)
			}
		})
	}
	if _, err := parseStat("77 (x) S 1"); err == nil {
		t.Error("half a line was accepted")
	}
}

func TestIdentityTellsReusedNumbersApart(t *testing.T) {
	id, err := Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !id.Alive() {
		t.Error("this process is said to be gone")
	}
	for name, other := range map[string]Identity{
		"started at another time": {PID: id.PID, StartTicks: id.StartTicks + 1, Boot: id.Boot},
		"of another boot":         {PID: id.PID, StartTicks: id.StartTicks, Boot: "other"},
		"never recorded":          {},
	} {
		if other.Alive() {
			t.Errorf("%s: taken for this process", name)
		}
		if err := End(other, time.Minute); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func table(t *testing.T) Table {
	t.Helper()
	dir := t.TempDir()
	return Table{Owner: dir, Dir: filepath.Join(dir, "daemons"), Log: func(name string) string { return filepath.Join(dir, name+".log") }}
}

func sleeper(t *testing.T) Daemon {
	t.Helper()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	return Daemon{Name: "sleeper", Path: path, Args: []string{"600"}}
}

func TestDaemonIsFoundWithoutItsRecord(t *testing.T) {
	tab, d := table(t), sleeper(t)
	if err := tab.Start(d); err != nil {
		t.Fatal(err)
	}
	recorded, ok := tab.Find(d.Name)
	if !ok {
		t.Fatal("it does not run")
	}
	if err := os.Remove(tab.file(d.Name)); err != nil {
		t.Fatal(err)
	}
	found, ok := tab.Find(d.Name)
	if !ok || found != recorded {
		t.Fatalf("found %+v, want %+v", found, recorded)
	}
	other := Table{Owner: "/elsewhere"}
	if owners := other.Elsewhere(d.Name); !slices.Contains(owners, tab.Owner) {
		t.Errorf("for another owner it runs in %q, want %q among them", owners, tab.Owner)
	}
	if owners := tab.Elsewhere(d.Name); slices.Contains(owners, tab.Owner) {
		t.Errorf("for its owner it runs elsewhere: %q", owners)
	}
	if running, current, err := tab.Running(d); !running || current || err != nil {
		t.Errorf("running=%v current=%v err=%v: it runs, but nobody knows with what", running, current, err)
	}
	if err := tab.Stop(d.Name, time.Minute); err != nil {
		t.Fatal(err)
	}
	if recorded.Alive() {
		t.Error("it still runs")
	}
}

func TestDaemonIsOutdatedByItsArguments(t *testing.T) {
	tab, d := table(t), sleeper(t)
	if err := tab.Start(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tab.Stop(d.Name, time.Minute) })
	if _, current, err := tab.Running(d); !current || err != nil {
		t.Errorf("current=%v err=%v right after the start", current, err)
	}
	d.Args = []string{"601"}
	if _, current, err := tab.Running(d); current || err != nil {
		t.Errorf("current=%v err=%v after its arguments changed", current, err)
	}
}
