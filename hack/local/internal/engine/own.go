//go:build linux

package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"replab.dev/hack/local/internal/cgroups"
	"replab.dev/hack/local/internal/host"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/preflight"
	"replab.dev/hack/local/internal/proc"
	"replab.dev/hack/local/internal/say"
)

const (
	name          = "dockerd"
	cgroup        = cgroups.Group("replab-engine")
	startPatience = time.Minute
	stopPatience  = 40 * time.Second
)

// table is where the engine's process is recorded.
func table(l layout.Layout) proc.Table {
	return proc.Table{Owner: l.Engine(), Dir: l.Engine("daemons"), Log: func(name string) string { return l.Log(name + ".log") }}
}

// Use has this process talk to our own engine, if it is up, or to the one of
// the machine. It returns false where there is neither.
func Use(l layout.Layout) (bool, error) {
	if _, running := table(l).Find(name); running {
		return true, use(l)
	}
	return answers(), nil
}

// Up makes sure that an engine answers: the machine's, or else our own.
func Up(l layout.Layout) error {
	_, there := table(l).Find(name)
	if !there && answers() {
		return nil
	}
	// Both would have the same bridge, chains and cgroup.
	if others := table(l).Elsewhere(name); len(others) > 0 {
		dir := filepath.Dir(others[0])
		return fmt.Errorf("another cluster is up in %s: take it down with LOCAL_DIR=%s make cluster-down", dir, dir)
	}
	if !there {
		if err := install(l); err != nil {
			return err
		}
	}
	if err := use(l); err != nil {
		return err
	}
	d, err := prepare(l)
	if err != nil {
		return err
	}
	running, current, err := table(l).Running(d)
	if err != nil {
		return err
	}
	if running && current && answers() {
		return nil
	}
	explain(l)
	return say.Step("start a Docker engine", func() error { return start(l, d) })
}

// explain says what changes on the machine, and how to undo it.
func explain(l layout.Layout) {
	say.Line("No Docker engine answers, so one is started in %s. While it is up, the machine has:", l.Engine())
	say.Line("  - the bridges docker0 and br-*, chains of iptables named DOCKER*, the cgroup %s;", cgroup)
	say.Line("  - kernel settings as Docker and Kubernetes want them; %s has those from before.", journalPath(l))
	say.Line("  - IP forwarding: this machine forwards packets between its networks, also for other machines, until make cluster-down.")
	say.Line("Undo: make cluster-down. Debian's package stays, and its service starts at the next boot: apt-get purge --auto-remove docker.io")
}

// install installs Debian's engine. Ours has data and a socket of its own.
func install(l layout.Layout) error {
	if err := preflight.Root(); err != nil {
		return fmt.Errorf("no Docker engine answers, and none can be started: %w", err)
	}
	return preflight.Engine(l)
}

// machineAnswers tells whether the engine of the machine runs beside our own.
func machineAnswers() bool {
	return exec.Command("docker", "--host", "unix:///var/run/docker.sock", "version").Run() == nil
}

func journalPath(l layout.Layout) string { return l.Engine("host.json") }

// prepare writes down how the machine is, and makes what the engine is started with.
func prepare(l layout.Layout) (proc.Daemon, error) {
	if _, err := host.OpenJournal(journalPath(l)); err != nil {
		return proc.Daemon{}, err
	}
	// Before the engine starts: otherwise it has the machine forward nothing but its own packets.
	if err := host.SetSysctls(); err != nil {
		return proc.Daemon{}, err
	}
	if err := cgroup.Ensure(); err != nil {
		return proc.Daemon{}, err
	}
	config := l.Engine("daemon.json")
	// Its own, and empty: the machine's is for another engine.
	if err := os.WriteFile(config, []byte("{}\n"), 0o644); err != nil {
		return proc.Daemon{}, err
	}
	d := proc.Daemon{Name: name, Path: "/usr/sbin/dockerd", Args: []string{
		"--config-file", config, "--data-root", l.Engine("data"), "--exec-root", l.Engine("run"), "--pidfile", l.Engine("pid"),
		"--host", "unix://" + socket(l), "--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", "/" + string(cgroup),
	}}
	if mayLowerScores() {
		return d, nil
	}
	runtime := l.Engine("runtime")
	if err := copySelf(runtime); err != nil {
		return d, err
	}
	d.Args = append(d.Args, "--add-runtime", runtimeName+"="+runtime, "--default-runtime", runtimeName)
	// Newer ones leave the score alone, and do not know the flag.
	if help, err := exec.Command(d.Path, "--help").CombinedOutput(); err == nil && strings.Contains(string(help), "--oom-score-adjust") {
		d.Args = append(d.Args, "--oom-score-adjust", "0")
	}
	return d, nil
}

// copySelf puts this program, which is the runtime too, where it stays while the
// engine runs. It is replaced in one step: a container may be starting.
func copySelf(target string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	if err := os.WriteFile(target+".next", text, 0o755); err != nil {
		return err
	}
	return os.Rename(target+".next", target)
}

func start(l layout.Layout, d proc.Daemon) error {
	t := table(l)
	// One that was killed leaves processes, which the next could not manage, and their numbers, which may be others' by now.
	err := errors.Join(t.Stop(name, stopPatience), endRest(l), cgroup.EndProcesses(stopPatience),
		host.Unmount(l.Engine("run")), host.Remove(l.Engine("pid"), l.Engine("run")))
	if err != nil {
		return err
	}
	if err := t.Start(d); err != nil {
		return err
	}
	for end := time.Now().Add(startPatience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if answers() {
			return nil
		}
		if _, running := t.Find(name); !running {
			break
		}
	}
	return fmt.Errorf("it does not answer: see %s", l.Log(name+".log"))
}

// Down ends our own engine with all that runs on it, and gives the machine back
// as it was. Its images stay unless they are to go too.
func Down(l layout.Layout, purge bool) error {
	// Left by an installation or by an image's assembly that was interrupted.
	if err := errors.Join(preflight.AllowServices(), host.Unmount(l.Run()), host.Remove(l.Run())); err != nil {
		return err
	}
	journal, err := host.ReadJournal(journalPath(l))
	if errors.Is(err, os.ErrNotExist) {
		return downUnknown(l, purge)
	}
	if err != nil {
		return err
	}
	return say.Step("end the Docker engine", func() error {
		errs := append(end(l), host.Unmount(l.Engine()))
		// An engine that still runs needs bridges, chains and settings.
		if len(table(l).Elsewhere(name)) == 0 && !machineAnswers() {
			errs = append(errs, journal.RemoveDocker(), journal.Restore())
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("not all could be removed; running this again is safe:\n%w", err)
		}
		return removeFiles(l, purge)
	})
}

// downUnknown ends an engine whose folder was removed while it ran. How the machine was before is lost with the folder.
func downUnknown(l layout.Layout, purge bool) error {
	if len(table(l).Marked("")) > 0 {
		say.Line("The engine's folder was removed while it ran. The engine's bridges and rules stay until the machine restarts.")
		if err := errors.Join(end(l)...); err != nil {
			return err
		}
	}
	if purge {
		return host.Remove(l.Engine())
	}
	return nil
}

// end ends the engine with all that runs on it.
func end(l layout.Layout) []error {
	errs := []error{table(l).Stop(name, stopPatience), endRest(l)}
	if len(table(l).Elsewhere(name)) == 0 {
		errs = append(errs, cgroup.EndProcesses(startPatience), cgroup.Remove())
	}
	return errs
}

// endRest ends what the engine leaves when it is killed: containerd and its shims.
func endRest(l layout.Layout) error {
	var errs []error
	for _, id := range table(l).Marked("") {
		errs = append(errs, proc.End(id, 2*time.Second))
	}
	return errors.Join(errs...)
}

func removeFiles(l layout.Layout, purge bool) error {
	if purge {
		return host.Remove(l.Engine())
	}
	paths, err := filepath.Glob(l.Engine("*"))
	if err != nil {
		return err
	}
	var gone []string
	for _, path := range paths {
		if path != l.Engine("data") {
			gone = append(gone, path)
		}
	}
	return host.Remove(gone...)
}
