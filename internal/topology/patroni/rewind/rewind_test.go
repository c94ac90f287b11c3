package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// fakeLog is of a server whose log has commits that the other server has not.
type fakeLog struct {
	forkErr, commitsErr, tablesErr error
}

const (
	usersFile  = "1663/16389/16391"
	probesFile = "1663/16389/16400"
)

func (l fakeLog) Fork(_ context.Context, _, source string) (engine.Fork, error) {
	if source != "the source" {
		return engine.Fork{}, errors.New("another source was asked")
	}
	return engine.Fork{Timeline: 1, NewTimeline: 2, Position: "0/300BB40"}, l.forkErr
}

func (l fakeLog) Commits(_ context.Context, _ string, f engine.Fork) (engine.LogCommits, error) {
	return engine.LogCommits{All: 9, Inserted: map[string]int64{usersFile: 5, probesFile: 3, "1663/16389/1": 1}, End: "0/4000000"}, l.commitsErr
}

func (l fakeLog) Tables(_ context.Context, socket, password string, _ ...string) (map[string]string, error) {
	if socket != "the socket" || password != "secret" {
		return nil, errors.New("another server was asked")
	}
	return map[string]string{wire.UsersTable: usersFile, wire.ProbeTable: probesFile}, l.tablesErr
}

// fakeReader reads nothing: what it is asked with is kept.
type fakeReader struct {
	asked *inspect.Request
	err   error
	dies  bool // before it can be asked anything
	stop  func()
}

func (r fakeReader) Read(ctx context.Context, _ engine.StartParams, asked *inspect.Request, beside func(context.Context, string)) error {
	*r.asked = *asked
	if !r.dies {
		beside(ctx, "the socket")
	}
	if r.stop != nil {
		r.stop()
	}
	return r.err
}

// node is a node's folders.
type node struct {
	cfg  wire.ServerConfig
	mark mark
}

func newNode(t *testing.T) node {
	t.Helper()
	dir := t.TempDir()
	n := node{cfg: wire.ServerConfig{
		Inspect: true, DataDir: filepath.Join(dir, "volume", "data"), RunDir: filepath.Join(dir, "run"), HoldDir: filepath.Join(dir, "holds"),
		SecretDir: filepath.Join(dir, "secrets"),
	}}
	n.mark = mark{n.cfg.DataDir, "control"}
	for _, folder := range []string{n.cfg.DataDir, n.cfg.RunDir, n.cfg.SecretDir} {
		must(t, os.MkdirAll(folder, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(n.cfg.SecretDir, wire.AccountAdmin), []byte("secret\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(n.cfg.DataDir, "control"), nil, 0o600))
	return n
}

// inspect returns what the agent was told in the end.
func (n node) inspect(ctx context.Context, t *testing.T, log fakeLog, r fakeReader) inspect.Request {
	t.Helper()
	inspection{cfg: n.cfg, log: log, reader: r, mark: n.mark}.inspect(ctx, time.UnixMicro(17), "the source")
	told, err := inspect.Asked(n.cfg.RunDir)
	must(t, err)
	return *told
}

func TestWhatIsTakenBackIsReadBefore(t *testing.T) {
	counted := wire.WALInspection{
		Timeline: 1, NewTimeline: 2, Fork: "0/300BB40", End: "0/4000000", Commits: 9, UserCommits: 5, ProbeCommits: 3,
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		log        fakeLog
		reader     fakeReader
		want       wire.WALInspection
		readError  string
		countError string
	}{
		"all is well":                           {fakeLog{}, fakeReader{}, counted, "", ""},
		"the other server does not answer":      {fakeLog{forkErr: broken}, fakeReader{}, wire.WALInspection{}, "", "broken"},
		"the log is damaged":                    {fakeLog{commitsErr: broken}, fakeReader{}, wire.WALInspection{Timeline: 1, NewTimeline: 2, Fork: "0/300BB40"}, "", "broken"},
		"the tables are not known":              {fakeLog{tablesErr: broken}, fakeReader{}, wire.WALInspection{Timeline: 1, NewTimeline: 2, Fork: "0/300BB40", End: "0/4000000", Commits: 9}, "", "broken"},
		"the agent does not read the rows":      {fakeLog{}, fakeReader{err: broken}, counted, "broken", ""},
		"the server alone ends":                 {fakeLog{}, fakeReader{err: broken, dies: true}, wire.WALInspection{Timeline: 1, NewTimeline: 2, Fork: "0/300BB40", End: "0/4000000", Commits: 9}, "broken", "broken"},
		"the server alone ends once it is read": {fakeLog{}, fakeReader{dies: true}, wire.WALInspection{Timeline: 1, NewTimeline: 2, Fork: "0/300BB40", End: "0/4000000", Commits: 9}, "", "ended before"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			c.reader.asked = &inspect.Request{}
			told := n.inspect(t.Context(), t, c.log, c.reader)
			if !told.Final || told.ID != "17" || told.Error != c.readError || told.Intact || told.Fresh || told.Unfinished || told.WAL == nil {
				t.Fatalf("the agent was told %+v", told)
			}
			if !strings.Contains(told.WAL.Error, c.countError) || (told.WAL.Error == "") != (c.countError == "") {
				t.Errorf("the log's error is %q, want %q", told.WAL.Error, c.countError)
			}
			told.WAL.Error = ""
			if d := cmp.Diff(c.want, *told.WAL); d != "" {
				t.Error(d)
			}
			if c.reader.asked.WAL != nil || c.reader.asked.Final {
				t.Errorf("the agent was asked with what is not known yet: %+v", c.reader.asked)
			}
			if noted, err := inspect.Unkept(filepath.Dir(n.cfg.DataDir), n.cfg.HoldDir); err != nil || len(noted) != 1 || noted[0].ID != "17" || noted[0].WAL == nil {
				t.Errorf("noted %+v, %v", noted, err)
			}
		})
	}
}

// Earlier starts that the agent has not kept are told along.
func TestAnInspectionTellsOfEarlierStarts(t *testing.T) {
	n := newNode(t)
	must(t, inspect.NoteStarts(filepath.Dir(n.cfg.DataDir), []wire.Inspection{{ID: "3", Intact: true}}))
	told := n.inspect(t.Context(), t, fakeLog{}, fakeReader{asked: &inspect.Request{}})
	if len(told.Earlier) != 1 || told.Earlier[0].ID != "3" || !told.Earlier[0].Intact {
		t.Errorf("told %+v", told.Earlier)
	}
}

func TestARewindThatIsCalledOffTakesNothing(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := n.inspect(ctx, t, fakeLog{}, fakeReader{asked: &inspect.Request{}, err: context.Canceled, stop: cancel})
	if !told.Final || !told.Intact || told.WAL != nil || told.Error != "" {
		t.Errorf("the agent was told %+v", told)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, err := n.rewinding(program(t, "echo began >"+out)).passOn(ctx, time.Now(), 0)
	if _, began := os.Stat(out); code != 143 || err != nil || began == nil || n.mark.stands() {
		t.Errorf("code %d, %v; began: %v; marked: %v", code, err, began == nil, n.mark.stands())
	}
}

func TestDataThatAreHalfRewoundAreNotRead(t *testing.T) {
	n := newNode(t)
	code, err := n.rewinding(program(t, "exit 3")).passOn(t.Context(), time.Now(), 0)
	if code != 3 || err != nil || !n.mark.stands() {
		t.Fatalf("code %d, %v; marked: %v", code, err, n.mark.stands())
	}
	asked := &inspect.Request{}
	if told := n.inspect(t.Context(), t, fakeLog{}, fakeReader{asked: asked}); !told.Unfinished || told.WAL != nil || told.Error != "" || asked.ID != "" {
		t.Errorf("told %+v; read as %+v", told, asked)
	}
	control := filepath.Join(n.cfg.DataDir, "control")
	for name, change := range map[string]func(){
		"a server has run on them": func() { must(t, os.Chtimes(control, time.Time{}, time.UnixMicro(3))) },
		"others have taken their place": func() {
			must(t, os.Rename(n.cfg.DataDir, filepath.Join(t.TempDir(), "old")))
			must(t, os.Mkdir(n.cfg.DataDir, 0o755))
			must(t, os.WriteFile(control, nil, 0o600))
		},
	} {
		if _, err := n.rewinding(program(t, "exit 3")).passOn(t.Context(), time.Now(), 0); err != nil || !n.mark.stands() {
			t.Fatalf("%v; marked: %v", err, n.mark.stands())
		}
		change()
		if told := n.inspect(t.Context(), t, fakeLog{}, fakeReader{asked: asked}); told.Unfinished || told.WAL == nil {
			t.Errorf("%s: told %+v", name, told)
		}
	}
}

func TestARewindIsNotedForTheAgent(t *testing.T) {
	n := newNode(t)
	out := filepath.Join(t.TempDir(), "out")
	began := time.Now().Add(-2 * time.Second)
	r := n.rewinding(program(t, `test -e "`+n.mark.file().Path+`" || exit 9; echo "$@" >`+out))
	r.arguments = []string{"-D", "a b", "--source-server", "x"}
	for _, inspected := range []time.Duration{2 * time.Second, 0} {
		if code, err := r.passOn(t.Context(), began, inspected); code != 0 || err != nil || n.mark.stands() {
			t.Fatalf("code %d, %v; marked: %v", code, err, n.mark.stands())
		}
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "-D a b --source-server x\n" {
		t.Errorf("the program was started with %q, %v", text, err)
	}
	text, err := os.ReadFile(filepath.Join(n.cfg.RunDir, wire.RewindsFile))
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 {
		t.Fatalf("noted %q", lines)
	}
	var note wire.RewindNote
	must(t, json.Unmarshal([]byte(lines[0]), &note))
	if note.InspectedMilliseconds != 2000 || note.ExitCode != 0 || note.EndedAt.Sub(note.BeganAt.Time) < 2*time.Second || !note.BeganAt.Time.Equal(began.Truncate(time.Microsecond)) {
		t.Errorf("noted %+v", note)
	}
}

// scripted is an engine whose servers are rewound by a script.
type scripted struct {
	engine.Starter
	call engine.RewindCall
	err  error
}

func (scripted) Manager(engine.ManagerParams) engine.Start { return engine.Start{} }

func (scripted) Files(string, engine.ManagerParams) []engine.RunFile { return nil }

func (s scripted) Rewind([]string) (engine.RewindCall, error) { return s.call, s.err }

func (scripted) CopiedLast() string { return "" }

func TestWhatIsNotReadIsPassedOn(t *testing.T) {
	file := program(t, `exit "$1"`)
	t.Setenv("PATH", filepath.Dir(file)+":"+os.Getenv("PATH"))
	call := engine.RewindCall{Program: "program", Control: "control"}
	asks := call
	asks.Asks = true
	became := errors.New("became")
	for name, c := range map[string]struct {
		engine  scripted
		inspect bool
		code    int
		fails   string
	}{
		"nothing is to be read":           {scripted{call: call}, false, 7, ""},
		"the call is not understood":      {scripted{call: call, err: errors.New("what?")}, true, 7, ""},
		"nothing is to be changed":        {scripted{call: asks}, true, 0, "became"},
		"an engine that cannot read":      {scripted{call: call}, true, 0, "cannot read a server"},
		"a program that is not there":     {scripted{call: engine.RewindCall{Program: "replab-none"}}, true, 0, "the image has no replab-none"},
		"an engine that is run otherwise": {scripted{}, true, 0, "knows no managers"},
	} {
		n := newNode(t)
		n.cfg.Engine, n.cfg.Inspect = "Scripted", c.inspect
		engines := engine.Lookup[engine.Starter]{"Scripted": c.engine}
		if c.engine.call.Program == "" {
			engines["Scripted"] = struct{ engine.Starter }{}
		}
		code, err := run(t.Context(), n.cfg, engines, []string{"7"}, func(p string, argv, _ []string) error {
			if p != file || len(argv) != 2 || argv[1] != "7" {
				t.Errorf("%s: it becomes %s %q", name, p, argv)
			}
			return became
		})
		if code != c.code || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: code %d, %v; want %d, %q", name, code, err, c.code, c.fails)
		}
	}
}

func (n node) rewinding(program string) rewinding {
	return rewinding{program: program, runDir: n.cfg.RunDir, mark: n.mark}
}

// program is a script.
func program(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return file
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
