package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The marks that a daemon carries in its environment. Children inherit them, and
// that is wanted: it is how containerd's shims are found when containerd is gone.
const (
	markOwner  = "REPLAB_ENGINE_DIR="
	markDaemon = "REPLAB_DAEMON="
)

// searchPath is given to every daemon, so that a lean environment of the caller
// (cron, a CI runner) does not hide runc or iptables from it.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// largestLog is when a log is put aside at the start of its daemon.
const largestLog = 32 << 20

// Daemon is a process that is kept running.
type Daemon struct {
	Name string
	Path string
	Args []string
}

// Table is where the daemons of one folder are recorded.
type Table struct {
	// Owner is the folder of their engine, which marks its processes.
	Owner string
	// Dir receives one record per daemon.
	Dir string
	// Log names the log of a daemon.
	Log func(name string) string
}

// record is what is remembered about a daemon that was started.
type record struct {
	Identity
	// Fingerprint is of everything that the daemon was started with.
	Fingerprint string `json:"fingerprint"`
}

// Running says whether the daemon runs, and with what d now asks for.
func (t Table) Running(d Daemon) (running, current bool, err error) {
	r, err := t.find(d.Name)
	if err != nil || !r.Alive() {
		return false, false, err
	}
	want, err := d.fingerprint()
	return true, r.Fingerprint == want, err
}

// Find returns the process of a daemon, if it runs.
func (t Table) Find(name string) (Identity, bool) {
	r, err := t.find(name)
	return r.Identity, err == nil && r.Alive()
}

// find reads the record of a daemon. Where the record is lost or names a process
// that is gone, it looks for one that carries the daemon's mark: it would
// otherwise hold the ports and locks that a second one needs.
func (t Table) find(name string) (record, error) {
	var r record
	b, err := os.ReadFile(t.file(name))
	if err == nil && json.Unmarshal(b, &r) == nil && r.Alive() {
		return r, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, err
	}
	for _, id := range t.Marked(name) {
		if leadsSession(id.PID) {
			return record{Identity: id}, nil
		}
	}
	return record{}, nil
}

// Marked returns the processes that carry the mark of this owner and, unless it is
// empty, of that daemon. Processes inside containers never carry it.
func (t Table) Marked(name string) []Identity {
	var found []Identity
	for _, pid := range all() {
		env := environment(pid)
		if !slices.Contains(env, markOwner+t.Owner) || name != "" && !slices.Contains(env, markDaemon+name) {
			continue
		}
		if id, err := Identify(pid); err == nil {
			found = append(found, id)
		}
	}
	return found
}

// Elsewhere returns the owners, beside this one, that the daemon runs for.
func (t Table) Elsewhere(name string) []string {
	var owners []string
	for _, pid := range all() {
		env := environment(pid)
		i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, markOwner) && v != markOwner+t.Owner })
		if i >= 0 && slices.Contains(env, markDaemon+name) {
			owners = append(owners, strings.TrimPrefix(env[i], markOwner))
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// Start starts the daemon in a session of its own and records it.
func (t Table) Start(d Daemon) error {
	fingerprint, err := d.fingerprint()
	if err != nil {
		return err
	}
	log, err := openLog(t.Log(d.Name))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(d.Path, d.Args...)
	cmd.Args[0] = d.Path
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{searchPath, "HOME=/root", markOwner + t.Owner, markDaemon + d.Name}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", d.Name, err)
	}
	id, err := Identify(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }() // reap it should it end while this command still runs
	if err != nil {
		return fmt.Errorf("%s ended at once: see %s", d.Name, t.Log(d.Name))
	}
	return t.write(d.Name, record{Identity: id, Fingerprint: fingerprint})
}

// Stop ends the daemon, with force after patience, and forgets it.
func (t Table) Stop(name string, patience time.Duration) error {
	r, err := t.find(name)
	if err != nil {
		return err
	}
	if err := End(r.Identity, patience); err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	err = os.Remove(t.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// End ends one process, with force after patience. A process that is gone, or
// whose number belongs to another by now, is left alone.
func End(id Identity, patience time.Duration) error {
	if !id.Alive() {
		return nil
	}
	// A descriptor of the process makes sure that the signal reaches this one
	// even if it ends, and its number is given away, between the look and the act.
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil || !id.Alive() {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	for _, step := range []struct {
		signal   unix.Signal
		patience time.Duration
	}{{unix.SIGTERM, patience}, {unix.SIGKILL, 10 * time.Second}} {
		if step.patience <= 0 {
			continue
		}
		_ = unix.PidfdSendSignal(fd, step.signal, nil, 0)
		if goneWithin(id, step.patience) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not end", id.PID)
}

func goneWithin(id Identity, patience time.Duration) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if !id.Alive() {
			return true
		}
	}
	return !id.Alive()
}

func (t Table) file(name string) string { return filepath.Join(t.Dir, name+".json") }

func (t Table) write(name string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(t.file(name), append(b, '\n'), 0o600)
}

// fingerprint covers what a daemon is started with, its binary included: a newly
// built one must replace the one that runs.
func (d Daemon) fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", d.Path, d.Args)
	info, err := os.Stat(d.Path)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%d %s\n", info.Size(), info.ModTime())
	return hex.EncodeToString(h.Sum(nil)), nil
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}
